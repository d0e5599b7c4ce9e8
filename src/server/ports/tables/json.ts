import type { ColumnType } from 'kysely'

/** A JSON column: written as text (`JSON.stringify`), read as a value. */
export type Json<T> = ColumnType<T, string, string>

/** A JSON column with a default. */
export type GeneratedJson<T> = ColumnType<T, string | undefined, string>
