import type { Clock } from '../ports/clock.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import type { OutboxConsumer } from '../ports/outbox.ts'
import { pruneRows } from './store.ts'

/** Minimum retention of a row (decisions: Events). */
const RETENTION_MS = 7 * 24 * 60 * 60 * 1000
const EVERY_MS = 60_000
const ROWS_MAX = 1_000

/** Makes the job that deletes outbox rows that every consumer has processed and that are older than seven days. */
export function createPruning(deps: {
  readonly clock: Clock
  readonly consumers: readonly OutboxConsumer[]
}): LeaderJob {
  const names = deps.consumers.map(({ name }) => name)
  return {
    name: 'outbox-pruning',
    everyMs: EVERY_MS,
    async run(leading) {
      const before = new Date(deps.clock.now() - RETENTION_MS)
      const pruned = await leading.transaction((tx) => pruneRows(tx, { names, before, max: ROWS_MAX }))
      return pruned === ROWS_MAX
    },
  }
}
