import type { IncomingHttpHeaders } from 'node:http'
import type { Logger } from 'pino'
import type { CredentialKind, StaleCache } from '../../shared/contract/operation.ts'
import { Problem, problem, type ProblemCode } from '../../shared/problems.ts'
import type { Caller, CredentialResolver, Refusal } from '../ports/credential-resolver.ts'
import type { TraceMarks } from '../ports/tracing.ts'
import { cookieOf } from './cookies.ts'
import { logMarks } from './trace-context.ts'

/** Resolves the credential of a request: a caller, or undefined on an open operation. */
export type Authenticate = (plan: Wanted, request: Presented) => Caller | undefined | Promise<Caller | undefined>

/** What an operation takes, and how it says that it got none of it. */
export interface Wanted {
  readonly operation: { readonly credentials: readonly CredentialKind[]; readonly bridgesOutages?: StaleCache }
  readonly unauthenticated: ProblemCode
}

export interface Presented {
  readonly headers: IncomingHttpHeaders
  readonly correlationId: string
  readonly trace?: TraceMarks | undefined
}

/** How old a credential in memory may be for what bridges outages, in ms; 0: none will do. */
export type StaleTimes = Readonly<Record<StaleCache, number>>

const NOTHING_STALE: StaleTimes = { checks: 0, state: 0 }

const BEARER = /^Bearer +([\x21-\x7e]+)$/i

/** What a request presents as Bearer (RFC 6750 §2.1); undefined where it presents nothing so. */
export function bearerOf({ authorization }: IncomingHttpHeaders): string | undefined {
  return authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
}

/**
 * Tries the resolvers that the operation takes and that recognise the credential, in order; the first success wins (S0
 * Authentication 1). Why one refused is in the log; the caller sees the operation's 401, or the resolver's code where
 * the operation is one of those that tell (`nsk_revoked`).
 */
export function createAuthenticate(
  resolvers: readonly CredentialResolver[],
  log: Logger,
  staleTimes: StaleTimes = NOTHING_STALE,
): Authenticate {
  const takenBy = createTaken(resolvers)

  function refuse(plan: Wanted, refusals: readonly Refusal[], by: Presented): never {
    for (const { log: cause } of refusals) log.info({ ...logMarks(by), cause }, 'credential refused')
    throw problem(refusals.find(({ code }) => code !== undefined)?.code ?? plan.unauthenticated)
  }

  function settle(plan: Wanted, outcome: Caller | Refusal, by: Presented): Caller {
    return 'refused' in outcome ? refuse(plan, [outcome], by) : outcome
  }

  function staleMsOf({ operation: { bridgesOutages } }: Wanted): number {
    return bridgesOutages === undefined ? 0 : staleTimes[bridgesOutages]
  }

  function tryOne(plan: Wanted, one: Try, by: Presented): Caller | Promise<Caller> {
    const outcome = resolved(one, staleMsOf(plan))
    if (!(outcome instanceof Promise)) return settle(plan, outcome, by)
    return outcome.then((late) => settle(plan, late, by))
  }

  async function tryAll(plan: Wanted, tries: readonly Try[], by: Presented): Promise<Caller> {
    const refusals: Refusal[] = []
    for (const one of tries) {
      const outcome = await resolved(one, staleMsOf(plan))
      if (!('refused' in outcome)) return outcome
      refusals.push(outcome)
    }
    return refuse(plan, refusals, by)
  }

  return (plan, by) => {
    const kinds = plan.operation.credentials
    if (kinds.length === 0) return undefined
    const tries = triesOf(takenBy(kinds), by.headers)
    const [only] = tries
    if (only === undefined) return refuse(plan, [], by)
    return tries.length > 1 ? tryAll(plan, tries, by) : tryOne(plan, only, by)
  }
}

/** The resolvers of some kinds, those of cookies apart: most requests carry none. */
interface Taken {
  readonly bearers: readonly CredentialResolver[]
  readonly cookies: readonly (CredentialResolver & { readonly cookie: string })[]
}

/** Sorts the resolvers once for each operation. Those of cookies come after those of bearer texts (S0 Authentication 1). */
function createTaken(resolvers: readonly CredentialResolver[]): (kinds: readonly CredentialKind[]) => Taken {
  const known = new WeakMap<readonly CredentialKind[], Taken>()
  return (kinds) => {
    const seen = known.get(kinds)
    if (seen !== undefined) return seen
    const wanted = resolvers.filter(({ kind }) => kinds.includes(kind))
    const taken = { bearers: wanted.filter(({ cookie }) => cookie === undefined), cookies: wanted.filter(hasCookie) }
    known.set(kinds, taken)
    return taken
  }
}

function hasCookie(resolver: CredentialResolver): resolver is CredentialResolver & { readonly cookie: string } {
  return resolver.cookie !== undefined
}

/** A resolver with what was presented to it. */
interface Try {
  readonly resolver: CredentialResolver
  readonly text: string
}

/** What is worth trying, in order. */
function triesOf({ bearers, cookies }: Taken, headers: IncomingHttpHeaders): readonly Try[] {
  const tries: Try[] = []
  const bearer = bearerOf(headers)
  if (bearer !== undefined) {
    for (const resolver of bearers) if (resolver.recognizes(bearer)) tries.push({ resolver, text: bearer })
  }
  if (headers.cookie === undefined) return tries
  for (const resolver of cookies) {
    const text = cookieOf(headers.cookie, resolver.cookie)
    if (text !== undefined && resolver.recognizes(text)) tries.push({ resolver, text })
  }
  return tries
}

function resolved({ resolver, text }: Try, staleMs: number): ReturnType<CredentialResolver['resolve']> {
  const outcome = resolver.resolve(text)
  if (!(outcome instanceof Promise) || staleMs === 0) return outcome
  return outcome.catch((failure: unknown) => {
    const isOutage = failure instanceof Problem && failure.code === 'datastore_unavailable'
    const known = isOutage ? resolver.resolveStale?.(text, staleMs) : undefined
    if (known === undefined) throw failure
    return known
  })
}
