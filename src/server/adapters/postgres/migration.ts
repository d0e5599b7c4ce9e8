/** One forward step of the schema. Once released its text never changes: the checksum of what was applied is kept. */
export interface Migration {
  /** `<four digits>-<slug>`; applied in the order of the names. */
  readonly name: string
  /** Statements valid on PostgreSQL 15 and newer, run as one transaction. */
  readonly sql: string
}
