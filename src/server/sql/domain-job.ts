import type { IdSource } from '../ports/clock.ts'
import { isUnwritable, type Datastore, type Db } from '../ports/datastore.ts'
import { LeadershipLost } from '../ports/leadership-lost.ts'
import type { LeaderJob, Leading } from '../ports/leadership.ts'
import type { Change } from '../ports/unit-of-work.ts'

/** Domains in which a job has something to do. */
export interface DomainQuery {
  readonly max: number
  /** Ids of Domains that are left out. */
  readonly except: readonly string[]
}

/** A job that does the same in each Domain that needs it. */
export interface DomainJob {
  readonly name: string
  /** Pause after each pass, ms. */
  readonly everyMs: number
  readonly datastore: Datastore
  readonly ids: IdSource
  /** Ids of Domains that need it. A pass in which none does is this query alone. */
  readonly outdated: (db: Db, query: DomainQuery) => Promise<readonly string[]>
  /** Does it in one Domain, in a transaction of its own. */
  readonly work: (change: Change, domainId: string) => Promise<void>
}

/** Domains in one pass. */
const DOMAINS_MAX = 50
/** Pause of a Domain in which the job failed: doubled with each failure. */
const REST_MS = 5_000
const REST_MS_MAX = 300_000

interface Rest {
  readonly failures: number
  readonly untilMs: number
}

/**
 * Makes the job. Where it fails in one Domain, it goes on with the others, and that Domain is left out for a while. The pass fails at its
 * end, with the Domains and their errors, so that they are in the log.
 */
export function createDomainJob({ name, everyMs, datastore, ids, outdated, work }: DomainJob): LeaderJob {
  const resting = new Map<string, Rest>()

  function rest(domainId: string): void {
    const failures = (resting.get(domainId)?.failures ?? 0) + 1
    const pauseMs = Math.min(REST_MS * 2 ** (failures - 1), REST_MS_MAX)
    resting.set(domainId, { failures, untilMs: performance.now() + pauseMs })
  }

  /** Undefined: it worked. @throws where it would fail in any other Domain alike. */
  async function tried(leading: Leading, domainId: string): Promise<Error | undefined> {
    try {
      const options = { pool: 'worker', correlationId: ids.next() } as const
      await leading.unitOfWork.run(options, (change) => work(change, domainId))
      resting.delete(domainId)
      return undefined
    } catch (error) {
      if (error instanceof LeadershipLost || isUnwritable(error) || leading.signal.aborted) throw error
      rest(domainId)
      return new Error(`${name} failed in the Domain ${domainId}`, { cause: error })
    }
  }

  return {
    name,
    everyMs,
    async run(leading) {
      const except = [...resting].filter(([, { untilMs }]) => untilMs > performance.now()).map(([domainId]) => domainId)
      const domainIds = await outdated(datastore.pool('worker'), { max: DOMAINS_MAX, except })
      const failures: Error[] = []
      for (const domainId of domainIds) {
        if (leading.signal.aborted) break
        const failure = await tried(leading, domainId)
        if (failure !== undefined) failures.push(failure)
      }
      if (failures.length > 0) throw failureOf(failures)
      return domainIds.length === DOMAINS_MAX
    },
  }
}

function failureOf(failures: readonly Error[]): Error {
  const [first] = failures
  return failures.length === 1 && first !== undefined
    ? first
    : new AggregateError(failures, 'a job failed in some Domains')
}
