/** How long earlier answers stand in for ones that cannot be had. */
export interface StaleAnswersOptions {
  /** How long an answer may be given again, ms; 0 for never. */
  readonly ttlMs: number
  /** Answers kept. */
  readonly entriesMax: number
}
