import { takeTerm } from '../../../src/server/adapters/postgres/terms.ts'
import { createUnitOfWork } from '../../../src/server/adapters/postgres/unit-of-work.ts'
import { createUuidV7 } from '../../../src/server/adapters/system/uuid-v7.ts'
import { createChangeFeed, type FollowedFeed } from '../../../src/server/adapters/postgres/change-feed.ts'
import type { Clock, IdSource } from '../../../src/server/ports/clock.ts'
import type { Datastore } from '../../../src/server/ports/datastore.ts'
import type { Candidacy } from '../../../src/server/ports/leader-seat.ts'
import type { Leading } from '../../../src/server/ports/leadership.ts'
import type { UnitOfWork } from '../../../src/server/ports/unit-of-work.ts'

/** What a job of the leader is made of, over a real datastore: any tuple is as good as another. */
export interface LeaderParts {
  readonly datastore: Datastore
  readonly clock: Clock & { nowMs: number }
  readonly ids: IdSource
  readonly feed: FollowedFeed
  readonly unitOfWork: UnitOfWork
  readonly takeTerm: Candidacy['takeTerm']
  /** Begins the next term. */
  lead(signal?: AbortSignal): Promise<Leading>
}

function fail(message: string, cause?: unknown): never {
  throw new Error(message, { cause })
}

/** The parts over a datastore. The feed, which may follow another one, polls only when it is asked to. Stop it at the end. */
export async function leaderParts(datastore: Datastore, nowMs: number, fed = datastore): Promise<LeaderParts> {
  const clock = { nowMs, now: () => clock.nowMs }
  const ids = createUuidV7(clock)
  const feed = createChangeFeed({ datastore: fed, warn: fail, pollIntervalMs: 3_600_000 })
  await feed.start()
  const unitOfWorkOver = (over: Datastore): UnitOfWork =>
    createUnitOfWork({
      datastore: over,
      feed,
      clock,
      ids,
      validateTuple: () => undefined,
      onAuditFailure: (error) => fail('an audit row was refused', error),
      onLateFeed: (error) => fail('the feed is late', error),
    })
  const take: Candidacy['takeTerm'] = (signal) => takeTerm({ datastore, unitOfWorkOver, holder: 'test:1' }, signal)
  return {
    datastore,
    clock,
    ids,
    feed,
    unitOfWork: unitOfWorkOver(datastore),
    takeTerm: take,
    lead: (signal = new AbortController().signal) => take(signal),
  }
}

/** Leads without a term, for jobs whose rules are not about losing one. */
export function unfenced({ datastore, unitOfWork }: Pick<LeaderParts, 'datastore' | 'unitOfWork'>): Leading {
  return {
    transaction: (work) => datastore.transaction('worker', work),
    unitOfWork,
    signal: new AbortController().signal,
  }
}
