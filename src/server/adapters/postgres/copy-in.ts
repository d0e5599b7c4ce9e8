import { type Connection, Query, type QueryResult } from 'pg'

/** What the driver's connection offers beside its published types. */
interface CopyConnection extends Connection {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

/** Bytes of one CopyData message: a bound of the server's memory for a message. */
const CHUNK_BYTES = 1024 * 1024

/** Whether the statement takes rows in COPY's text format as its only parameter. */
export function isCopyIn(text: string): boolean {
  return /^copy .* from stdin$/.test(text)
}

/**
 * A COPY whose rows are sent right behind it, without a wait for the server's word: the embedded engine reads no further
 * message while it executes one, so that all of it has to be there. A server that refuses the statement skips the rows
 * (PostgreSQL: Message Flow, COPY Operations).
 */
export class CopyIn extends Query {
  readonly #text: string
  readonly #rows: Buffer

  constructor(text: string, rows: Buffer, callback: (error: Error | undefined, result: QueryResult) => void) {
    super(text, [], callback)
    this.#text = text
    this.#rows = rows
  }

  override submit = (connection: Connection): void => {
    const copying = connection as CopyConnection
    copying.stream.cork()
    copying.query(this.#text)
    for (let at = 0; at < this.#rows.length; at += CHUNK_BYTES)
      copying.sendCopyFromChunk(this.#rows.subarray(at, at + CHUNK_BYTES))
    copying.endCopyFrom()
    copying.stream.uncork()
  }

  /** The rows were sent already. */
  handleCopyInResponse(): void {
    // Nothing is waited for.
  }
}
