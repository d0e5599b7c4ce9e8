import type { Pool } from '../../ports/datastore.ts'

/**
 * How long one statement may take, in ms. A person waits for an `interactive` statement, and no request waits for a `bulk` one.
 */
export const STATEMENT_DEADLINES_MS: Readonly<Record<Pool, number>> = {
  interactive: 5_000,
  heartbeats: 5_000,
  'node-keys': 5_000,
  'change-feed': 5_000,
  worker: 30_000,
  bulk: 300_000,
}
