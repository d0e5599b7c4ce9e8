import type { IncomingHttpHeaders } from 'node:http'
import type { Logger } from 'pino'
import type { CredentialKind, StaleCache } from '../../../shared/contract/operation.ts'
import { Problem, problem, type PlainProblemCode } from '../../../shared/problems.ts'
import type { Caller, CredentialResolver, Refusal } from '../../ports/credential-resolver.ts'
import type { TraceMarks } from '../../ports/tracing.ts'
import { SESSION_COOKIE } from '../../ports/sessions.ts'
import { cookieOf } from '../cookies.ts'
import type { LookUpLimiter, PresentedFrom } from '../limits/lookup-limiter.ts'
import { logMarks } from '../trace-context.ts'

/** Resolves the credential of a request: a caller, or undefined on an open operation. */
export type Authenticate = (plan: Wanted, request: Presented) => Caller | undefined | Promise<Caller | undefined>

/** Which credentials an operation accepts, and its answer to a request without one. */
export interface Wanted {
  readonly operation: { readonly credentials: readonly CredentialKind[]; readonly bridgesOutages?: StaleCache }
  readonly unauthenticated: PlainProblemCode
}

export interface Presented {
  readonly headers: IncomingHttpHeaders
  readonly correlationId: string
  readonly trace?: TraceMarks | undefined
  /** Absent where the server asks for itself; no limit applies then. */
  readonly from?: PresentedFrom | undefined
}

/** How old a cached credential may be for operations that bridge outages, in ms; 0: caches are not used. */
export type StaleTimes = Readonly<Record<StaleCache, number>>

const NOTHING_STALE: StaleTimes = { checks: 0, state: 0 }

const BEARER = /^Bearer +([\x21-\x7e]+)$/i

/** What a request presents as Bearer (RFC 6750 §2.1); undefined where it presents nothing so. */
export function bearerOf({ authorization }: IncomingHttpHeaders): string | undefined {
  return authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
}

export interface AuthenticateDeps {
  readonly resolvers: readonly CredentialResolver[]
  readonly log: Logger
  readonly staleTimes?: StaleTimes | undefined
  /** Bounds look-ups by address; not bounded when absent. */
  readonly lookUps?: LookUpLimiter | undefined
}

/**
 * Tries the resolvers that the operation takes and that recognise the credential, in order; the first success wins (S0
 * Authentication 1). Why one refused is in the log; the caller sees the operation's 401, or the resolver's code where
 * the operation declares that code (`nsk_revoked`).
 */
export function createAuthenticate({
  resolvers,
  log,
  staleTimes = NOTHING_STALE,
  lookUps,
}: AuthenticateDeps): Authenticate {
  const takenBy = createTaken(resolvers)

  function refusalOf(plan: Wanted, refusals: readonly Refusal[], by: Presented): Problem {
    for (const { log: cause } of refusals) log.info({ ...logMarks(by), cause }, 'credential refused')
    return problem(refusals.find(({ code }) => code !== undefined)?.code ?? plan.unauthenticated)
  }

  /** Refuses a request without a look-up. A request without a credential is no guess, and is not counted. */
  function refuseAtOnce(plan: Wanted, refusals: readonly Refusal[], by: Presented): never {
    const refusal = refusalOf(plan, refusals, by)
    const isCounted = by.from !== undefined && hasCredential(by.headers)
    throw isCounted ? (lookUps?.counted(by.from, refusal) ?? refusal) : refusal
  }

  function staleMsOf({ operation: { bridgesOutages } }: Wanted): number {
    return bridgesOutages === undefined ? 0 : staleTimes[bridgesOutages]
  }

  async function tryAll(plan: Wanted, tries: readonly Try[], by: Presented): Promise<Caller> {
    const refusals: Refusal[] = []
    for (const one of tries) {
      const outcome = await resolved(one, staleMsOf(plan))
      if (!('refused' in outcome)) return outcome
      refusals.push(outcome)
    }
    throw refusalOf(plan, refusals, by)
  }

  function lookUp(plan: Wanted, tries: readonly Try[], by: Presented): Promise<Caller> {
    const look = (): Promise<Caller> => tryAll(plan, tries, by)
    if (lookUps === undefined || by.from === undefined) return look()
    const lane = tries.every(({ resolver }) => resolver.kind === 'nsk') ? 'node-keys' : 'others'
    return lookUps.run(by.from, lane, look)
  }

  return (plan, by) => {
    const kinds = plan.operation.credentials
    if (kinds.length === 0) return undefined
    const tries = triesOf(takenBy(kinds), by.headers)
    const [only, second] = tries
    if (only === undefined) return refuseAtOnce(plan, [], by)
    const known = second === undefined ? only.resolver.recall?.(only.text) : recalled(tries)
    if (known === undefined) return lookUp(plan, tries, by)
    if (Array.isArray(known)) return refuseAtOnce(plan, known, by)
    return 'refused' in known ? refuseAtOnce(plan, [known], by) : known
  }
}

function hasCredential({ authorization, cookie }: IncomingHttpHeaders): boolean {
  return authorization !== undefined || cookieOf(cookie, SESSION_COOKIE) !== undefined
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

/** The resolvers that recognise the credential, in order. */
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

/** The cached result of several resolvers: the first caller, or all refusals; undefined where a look-up is needed. */
function recalled(tries: readonly Try[]): Caller | Refusal[] | undefined {
  const refusals: Refusal[] = []
  for (const { resolver, text } of tries) {
    const known = resolver.recall?.(text)
    if (known === undefined) return undefined
    if (!('refused' in known)) return known
    refusals.push(known)
  }
  return refusals
}

async function resolved({ resolver, text }: Try, staleMs: number): Promise<Caller | Refusal> {
  try {
    return await resolver.resolve(text)
  } catch (failure) {
    const isOutage = staleMs > 0 && failure instanceof Problem && failure.code === 'datastore_unavailable'
    const known = isOutage ? resolver.resolveStale?.(text, staleMs) : undefined
    if (known === undefined) throw failure
    return known
  }
}
