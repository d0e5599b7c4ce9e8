import type { AuthzInsight } from '../../ports/authz-insight.ts'
import type { AuthzLookups } from '../../ports/authz-lookups.ts'
import type { Authorizer } from '../../ports/authorizer.ts'
import type { ChangeFeed } from '../../ports/change-feed.ts'

/** The engine, which answers from an index that follows the change feed. */
export interface LeasedEngine {
  readonly authorizer: Authorizer
  readonly lookups: AuthzLookups
  readonly insight?: AuthzInsight
}

/**
 * Lets a question wait for the next confirmation of a lapsed lease (`ChangeFeed.untilFresh`) before the engine is
 * asked. A valid lease costs no promise.
 */
export function awaitingLease(engine: LeasedEngine, feed: Pick<ChangeFeed, 'isFresh' | 'untilFresh'>): LeasedEngine {
  const { authorizer, lookups, insight } = engine
  const whenFresh = <T>(ask: () => T | Promise<T>): T | Promise<T> =>
    feed.isFresh() ? ask() : feed.untilFresh().then(ask)
  return {
    authorizer: {
      ...authorizer,
      check: (query) => whenFresh(() => authorizer.check(query)),
      domainOf: (reference) => whenFresh(() => authorizer.domainOf(reference)),
    },
    lookups: {
      resources: (query) => whenFresh(() => lookups.resources(query)),
      fewResources: (query) => whenFresh(() => lookups.fewResources(query)),
      subjects: (query) => whenFresh(() => lookups.subjects(query)),
    },
    ...(insight !== undefined && {
      insight: {
        explain: (query) => whenFresh(() => insight.explain(query)),
        impact: (query) => whenFresh(() => insight.impact(query)),
      },
    }),
  }
}
