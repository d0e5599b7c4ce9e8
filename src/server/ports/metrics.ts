/** What the server counts. Calls are cheap and never fail; labels have few values, never ids or names that callers choose. */
export interface Metrics {
  /** One answered request; `operation` is its id in the contract, or `none` for a path outside it. */
  requestServed(operation: string, status: number, seconds: number): void
  /** An audit row could not be written although its decision stands (S0 convention 7). */
  auditWriteFailed(rows: number): void
  /** Audit rows of reads that the write-behind queue had no room for. */
  auditRowsDropped(rows: number): void
  auditRowsWritten(rows: number): void
}

/** Counts nothing: for a server without `--ops-listen`. */
export const noMetrics: Metrics = {
  requestServed() {},
  auditWriteFailed() {},
  auditRowsDropped() {},
  auditRowsWritten() {},
}
