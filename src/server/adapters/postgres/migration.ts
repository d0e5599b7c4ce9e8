/** One forward step of the schema. A released migration never changes: the database stores its checksum. */
export interface Migration {
  /** `<four digits>-<slug>`; applied in the order of the names. */
  readonly name: string
  /** Statements valid on PostgreSQL 15 and newer, run as one transaction. */
  readonly sql: string
}
