import type { Change } from './unit-of-work.ts'

/** The API tokens of one principal, for those who decide about the principal itself. */
export interface OwnedTokens {
  /** Makes every replica read the tokens and their owner again before it takes one of them. */
  ownerChanged(change: Change, ownerId: string): Promise<void>
  /** Ends all of them at once and deletes their rows; resolves with how many there were. */
  deleteAllOf(change: Change, ownerId: string): Promise<number>
}
