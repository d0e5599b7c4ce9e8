/** The newest index of releases that was accepted from a source. */
interface ReleaseIndexRow {
  /** The configured folder or address. */
  source: string
  /** A bigint. */
  serial: string
  /** SHA-256 of the index. */
  digest: Buffer
  /** Whether everything in it has been taken. */
  is_applied: boolean
  read_at: Date
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    release_indexes: ReleaseIndexRow
  }
}
