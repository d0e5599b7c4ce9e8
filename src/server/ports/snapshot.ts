/** One consistent state of a datastore, to be read from once. Nothing that is written meanwhile shows in it. */
export interface Snapshot {
  /** Rows of a query without parameters. Values are as the driver gives them. @throws DatastoreError */
  rows(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /**
   * Rows of `COPY (…) TO STDOUT` in the text format, whole lines in chunks. All of them are in memory: undefined where they
   * have more bytes than `bytesMax`. @throws DatastoreError
   */
  copyOut(text: string, bytesMax: number): Promise<readonly Buffer[] | undefined>
  /** Ends it, and removes what it took. */
  close(): Promise<void>
}

/** How a datastore gives a snapshot of itself while it takes writes. */
export interface SnapshotRequest {
  /** Ends the work early; what it took is removed then. */
  readonly signal: AbortSignal
  /** Called with the number of bytes that were copied before the first row can be read. Only the embedded datastore copies. */
  readonly onCopied?: (bytes: number, ofBytes: number) => void
}

/** @throws DatastoreError, or BackupRefusal where there is no room for the copy */
export type OpenSnapshot = (request: SnapshotRequest) => Promise<Snapshot>

/** Why no backup was made, in one sentence. No file was changed. */
export class BackupRefusal extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'BackupRefusal'
  }
}
