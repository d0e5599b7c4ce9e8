import type { AuditEntry } from './unit-of-work.ts'

/** Stores audit rows that ride in no transaction of a change. */
export interface AuditSink {
  /** Stores all of them in one statement, or none; a row whose id is stored already counts as stored. */
  write(rows: readonly (AuditEntry & { readonly id: string; readonly atMs: number })[]): Promise<void>
  /** Notes how many rows of each Domain (null: of the platform) will never be written, so that their chains say so. */
  lost(rows: ReadonlyMap<string | null, number>): Promise<void>
}
