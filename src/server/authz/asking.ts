import type { RequestContext } from '../http/request-context.ts'
import type { CaveatFacts, Decision } from '../ports/authorizer.ts'

/** The denial that tells nothing: of what does not exist, and of what the caller may not be told of. */
export const DENIED: Decision = Object.freeze({ allowed: false, reason: 'insufficient_relation' })

const NO_FACTS: ReadonlySet<string> = new Set()

/** Names of the facts that a request lets caveats read; the values beside them are dropped unread (decisions: Caveats). */
export function namedFacts(context: Readonly<Record<string, unknown>> | undefined): ReadonlySet<string> {
  return context === undefined ? NO_FACTS : new Set(Object.keys(context))
}

/** What is known of the asked subject: of anybody but the caller, only the time. */
export function factsOf({ caller, facts }: RequestContext, subject: string): CaveatFacts {
  return subject === caller.subject ? facts : { nowMs: facts.nowMs }
}

/** Goes on at once with a value that is at hand, and later with one that is promised. */
export function andThen<T, R>(value: T | Promise<T>, goOn: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(goOn) : goOn(value)
}
