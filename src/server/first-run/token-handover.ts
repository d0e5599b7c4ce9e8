/**
 * Passes the bootstrap token to a person. The token is staged before the transaction that creates it commits, and
 * published afterwards. After a crash, the next start publishes the staged token if it was committed, and discards it
 * otherwise.
 */
export interface TokenHandover {
  /** @throws Error if a token cannot be staged; nothing is written. */
  prove(): void
  /**
   * Stores the token where only the account of the server can read it. @throws Error if it could not be published
   * later.
   */
  stage(token: string): void
  /** The token that an interrupted start left staged. */
  staged(): string | undefined
  publish(): void
  discard(): void
}
