import { parseTupleReference } from '../../../shared/authz/reference.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { SliceOptions } from '../../../shared/time-slices.ts'
import type { CaveatFacts, Decision } from '../../ports/authorizer.ts'
import { CallerGone } from '../../ports/caller-gone.ts'

/** The denial that reveals nothing: for what does not exist, and for what the caller may not learn about. */
export const DENIED: Decision = Object.freeze({ allowed: false, reason: 'insufficient_relation' })

const NO_FACTS: ReadonlySet<string> = new Set()

/** Names of the facts that a request lets caveats read; their values are dropped unread (decisions: Caveats). */
export function namedFacts(context: Readonly<Record<string, unknown>> | undefined): ReadonlySet<string> {
  return context === undefined ? NO_FACTS : new Set(Object.keys(context))
}

/** The facts about the subject of the question: for anybody but the caller, only the time. */
export function factsOf({ caller, facts }: RequestContext, subject: string): CaveatFacts {
  return subject === caller.subject ? facts : { nowMs: facts.nowMs }
}

/** What a question names besides the object of its audit row. */
interface AskedNames {
  readonly subject?: string
  readonly relation: string
  readonly resource_type?: string
  readonly subject_type?: string
}

/**
 * Adds what was asked to the audit row, in members `asked_…`. They are names: a text that can be neither a
 * reference nor a name is left out, and so are the values of `caveat_context`.
 */
export function noteAsked(ctx: RequestContext, asked: AskedNames): void {
  const { subject, relation, resource_type: resourceType, subject_type: subjectType } = asked
  ctx.note({
    ...(subject !== undefined && parseTupleReference(subject) !== undefined && { asked_subject: subject }),
    ...(isName(relation) && { asked_relation: relation }),
    ...(isName(resourceType) && { asked_resource_type: resourceType }),
    ...(isName(subjectType) && { asked_subject_type: subjectType }),
  })
}

/** The length of the schema's longest name, with a margin. */
const NAME = /^[a-z][a-z0-9_-]{0,63}$/

function isName(text: string | undefined): boolean {
  return text !== undefined && NAME.test(text)
}

/** Ends long work once its caller has gone. */
export function wanting(ctx: RequestContext): SliceOptions {
  return {
    assertWanted() {
      if (ctx.isAbandoned()) throw new CallerGone()
    },
  }
}

/** Continues synchronously with a plain value, and later with a promised one. */
export function andThen<T, R>(value: T | Promise<T>, goOn: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(goOn) : goOn(value)
}
