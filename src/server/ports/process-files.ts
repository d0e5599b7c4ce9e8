/** The open files of this process. Sockets count among them. */
export interface ProcessFiles {
  /** How many it may have open at once, 1 at least. */
  readonly max: number
  /** Counts those that are open; undefined where they cannot be counted now. Never rejects. */
  count(): Promise<number | undefined>
}
