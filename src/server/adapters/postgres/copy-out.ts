import { Query, type QueryResult } from 'pg'

/** What the driver's connection gives for each row. */
interface CopyData {
  readonly chunk: Buffer
}

/** A `COPY … TO STDOUT`: collects the rows, which the driver's own query ignores, up to a number of bytes. */
export class CopyOut extends Query {
  readonly #bytesMax: number
  #chunks: Buffer[] = []
  #bytes = 0

  constructor(
    { text, bytesMax }: { readonly text: string; readonly bytesMax: number },
    callback: (error: Error | undefined, result: QueryResult) => void,
  ) {
    super(text, [], callback)
    this.#bytesMax = bytesMax
  }

  /** Every row; undefined where they have more bytes: none of them is kept then. `rows` is a member of the driver. */
  collected(): readonly Buffer[] | undefined {
    return this.#bytes > this.#bytesMax ? undefined : this.#chunks
  }

  /** The driver's buffer is its own again after the call, hence the copy. */
  handleCopyData({ chunk }: CopyData): void {
    this.#bytes += chunk.length
    if (this.#bytes > this.#bytesMax) this.#chunks = []
    else this.#chunks.push(Buffer.from(chunk))
  }
}
