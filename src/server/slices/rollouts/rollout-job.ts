import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { LeaderJob, Leading } from '../../ports/leadership.ts'
import { advance } from './advance.ts'
import { readWatched } from './store.ts'

const EVERY_MS = 1_000
/** Rollouts that one pass looks at, each in a transaction of its own. */
const PASS_MAX = 50

export interface RolloutJobDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
  readonly clock: Clock
}

/** Makes the job that takes rollouts further. One that fails does not hold up the others. */
export function createRolloutJob({ datastore, ids, clock }: RolloutJobDeps): LeaderJob {
  /** The last rollout that was looked at; undefined where the next pass begins with the first. */
  let last: string | undefined

  const further = (leading: Leading, { id, domain_id: domainId }: Watched) =>
    leading.unitOfWork.run({ pool: 'worker', correlationId: ids.next() }, (change) =>
      advance(change, { id, domainId, ids, now: new Date(clock.now()) }),
    )

  return {
    name: 'rollouts',
    everyMs: EVERY_MS,
    isUrgent: true,
    async run(leading) {
      const watched = await readWatched(datastore.pool('worker'), last, PASS_MAX)
      const isFull = watched.length === PASS_MAX
      last = isFull ? watched.at(-1)?.id : undefined
      const errors: unknown[] = []
      let isMore = isFull
      for (const each of watched) {
        if (leading.signal.aborted) return false
        const more = await further(leading, each).catch((error: unknown) => void errors.push(error))
        isMore ||= more === true
      }
      if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors, 'rollouts stand still')
      return isMore
    },
  }
}

type Watched = Awaited<ReturnType<typeof readWatched>>[number]
