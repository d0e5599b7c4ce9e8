/**
 * How the bootstrap token reaches a person. It is staged before the change that makes it real commits and published
 * after: whatever a crash interrupts, the next start finds either nothing that was promised, or the token.
 */
export interface TokenHandover {
  /** Throws where a token could not be staged, before anything was written for it. */
  prove(): void
  /** Keeps the token where only its owner can read it. Throws where it could not be published later. */
  stage(token: string): void
  /** The token that an interrupted start left staged. */
  staged(): string | undefined
  publish(): void
  discard(): void
}
