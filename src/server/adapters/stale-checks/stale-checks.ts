import { Problem } from '../../../shared/problems.ts'
import { createSecondChanceMap } from '../../../shared/second-chance-map.ts'
import type { Authorizer, CheckQuery, Decision, OwningDomain } from '../../ports/authorizer.ts'
import type { StaleAnswersOptions } from '../../ports/stale-answers.ts'

/** A decision that depends on tuples only, and when it was last made. */
interface KnownDecision {
  readonly decision: Decision
  readonly atMs: number
}

/**
 * Answers checks from a cache while the engine is unavailable (S1 Degradation 2). An answer is used only for exactly
 * the same question, within the TTL, if it depends on tuples only, and if the query accepts stale answers and names no
 * facts. Every other question fails with `authz_unavailable`. A fresh decision costs one entry in a map.
 *
 * The Domain of an object is cached with the answer, since it decides what a caller may learn; objects never change
 * their Domain.
 */
export function withStaleChecks<A extends Authorizer>(authorizer: A, { ttlMs, entriesMax }: StaleAnswersOptions): A {
  if (ttlMs === 0 || entriesMax === 0) return authorizer
  const decisions = createSecondChanceMap<KnownDecision>(entriesMax)
  const domains = createSecondChanceMap<string | null>(entriesMax)
  let unavailableSinceMs: number | undefined

  function decided(query: CheckQuery, decision: Decision): Decision {
    unavailableSinceMs = undefined
    const key = keyOf(query)
    if (decision.isUnconditional === true) decisions.set(key, { decision, atMs: query.facts.nowMs })
    else decisions.delete(key)
    if (query.wantPath && !decision.allowed) locateBoth(query)
    return decision
  }

  /** While the engine is available, a plain denial needs no Domains. In an outage they decide who may see it. */
  function locateBoth({ subject, resource }: CheckQuery): void {
    for (const reference of [subject, resource]) if (domains.get(reference) === undefined) locate(reference)
  }

  function locate(reference: string): void {
    try {
      const domain = authorizer.domainOf(reference)
      // A Domain that cannot be read now stays unknown: in an outage fewer callers then get the answer.
      if (domain instanceof Promise) domain.then((late) => located(reference, late)).catch(() => undefined)
      else located(reference, domain)
    } catch (failure) {
      if (!isOutage(failure)) throw failure
    }
  }

  /** @throws the failure, unless it is an outage that a recent answer may bridge. */
  function bridge(query: CheckQuery, failure: unknown): Decision {
    if (!isOutage(failure)) throw failure
    const { nowMs } = query.facts
    unavailableSinceMs ??= nowMs
    if (query.mayBeStale !== true || (query.allowedFacts?.size ?? 0) > 0) throw failure
    const known = decisions.get(keyOf(query))
    if (known === undefined || Math.abs(nowMs - known.atMs) > ttlMs) throw failure
    return { ...known.decision, staleSinceMs: unavailableSinceMs }
  }

  function located(reference: string, domain: OwningDomain): OwningDomain {
    if (domain !== undefined && domains.get(reference) === undefined) domains.set(reference, domain)
    return domain
  }

  function recall(reference: string, failure: unknown): OwningDomain {
    const domain = isOutage(failure) ? domains.get(reference) : undefined
    if (domain === undefined) throw failure
    return domain
  }

  return {
    ...authorizer,
    check(query) {
      try {
        const decision = authorizer.check(query)
        if (!(decision instanceof Promise)) return decided(query, decision)
        return decision.then(
          (late) => decided(query, late),
          (failure: unknown) => bridge(query, failure),
        )
      } catch (failure) {
        return bridge(query, failure)
      }
    },
    domainOf(reference) {
      try {
        const domain = authorizer.domainOf(reference)
        if (!(domain instanceof Promise)) return located(reference, domain)
        return domain.then(
          (late) => located(reference, late),
          (failure: unknown) => recall(reference, failure),
        )
      } catch (failure) {
        return recall(reference, failure)
      }
    },
  }
}

/**
 * Only decisions that depend on tuples are cached, so no other member of the question matters. The parts contain no
 * space: they are parts of a decided question.
 */
function keyOf({ subject, relation, resource, wantPath }: CheckQuery): string {
  return `${wantPath ? 'path' : ''} ${subject} ${relation} ${resource}`
}

function isOutage(failure: unknown): boolean {
  return failure instanceof Problem && failure.code === 'authz_unavailable'
}
