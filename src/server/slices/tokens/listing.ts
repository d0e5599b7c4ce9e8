import type { tokens } from '../../../shared/contract/tokens.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { Db } from '../../ports/datastore.ts'
import { toSummary } from './answers.ts'
import { listTokens } from './store.ts'
import { LISTED_AFTER_END_MS } from './token.ts'

const LISTED_MAX = 200

/** The owner's tokens as the API lists them: newest first, at most 200, without hidden ones and those that ended 90 days ago. */
export async function listedTokens(
  db: Db,
  ownerId: string,
  nowMs: number,
): Promise<Result<(typeof tokens)['operations']['GetAuthTokens']>> {
  const range = {
    ownerId,
    now: new Date(nowMs),
    endedSince: new Date(nowMs - LISTED_AFTER_END_MS),
    count: LISTED_MAX,
  }
  return (await listTokens(db, range)).map(toSummary)
}
