import { Query, type QueryResult } from 'pg'

/** What the driver's connection gives for each row. */
interface CopyData {
  readonly chunk: Buffer
}

/** A `COPY … TO STDOUT`: collects the rows, which the driver's own query ignores. */
export class CopyOut extends Query {
  readonly chunks: Buffer[] = []

  constructor(text: string, callback: (error: Error | undefined, result: QueryResult) => void) {
    super(text, [], callback)
  }

  /** The driver's buffer is its own again after the call, hence the copy. */
  handleCopyData({ chunk }: CopyData): void {
    this.chunks.push(Buffer.from(chunk))
  }
}
