import type { Datastore, Db } from './datastore.ts'

/** A table, and the columns of each of its rows in order. */
export interface TableColumns {
  readonly table: string
  readonly columns: readonly string[]
}

/** States of sequences by name, numbers in decimal. */
export type SequenceValues = Readonly<Record<string, { readonly last_value: string; readonly is_called: boolean }>>

/** A foreign key by its table and name. */
export interface ForeignKeyName {
  readonly table: string
  readonly name: string
}

/** The foreign keys after a load. */
export interface LoadedKeys {
  /** How many the schema has. */
  readonly count: number
  /** Those that some row breaks: they are missing from the schema. */
  readonly broken: readonly ForeignKeyName[]
}

/** An empty schema that takes rows in any order of the tables. */
export interface SchemaLoad {
  /** Empties a table, whose first rows a migration may have made. @throws BootError where the schema does not have it */
  beginTable(table: string): Promise<void>
  /** Adds rows in COPY's text format. @throws BootError naming the table where they do not fit it */
  addRows(table: TableColumns, rows: Buffer): Promise<void>
  /** Sets every sequence that is named. @throws BootError naming one that the schema does not have */
  setSequences(values: SequenceValues): Promise<void>
  /** Makes the foreign keys again, each of which checks every row. */
  finish(): Promise<LoadedKeys>
}

/** How much of the schema is made, and where. */
export interface SchemaStart {
  /** The number of migrations, from the first. */
  readonly count: number
  /** Whether the database belongs to this process alone, and may have the schema of this version already. */
  readonly isOwn: boolean
}

/** The schema of this version and those before it, as a backup needs them. */
export interface BackupSchema {
  /** Names of every migration of this version, in order. */
  readonly migrations: readonly string[]
  /** Makes the tables of the first migrations, for rows that follow in the same transaction. */
  begin(tx: Db, start: SchemaStart): Promise<SchemaLoad>
  /** Applies the missing migrations within the caller's transaction. Resolves with their names. */
  migrateWithin(tx: Db): Promise<string[]>
  /** Applies the missing ones of the first `count` as a server that starts does: each in one transaction. */
  migrateTo(datastore: Datastore, count: number): Promise<string[]>
}
