import type { IncomingHttpHeaders } from 'node:http'
import type { Logger } from 'pino'
import type { CredentialKind } from '../../shared/contract/operation.ts'
import { Problem, problem, type ProblemCode } from '../../shared/problems.ts'
import type { Caller, CredentialResolver, Refusal } from '../ports/credential-resolver.ts'
import { cookieOf } from './cookies.ts'

/** Resolves the credential of a request: a caller, or undefined on an open operation. */
export type Authenticate = (plan: Wanted, request: Presented) => Caller | undefined | Promise<Caller | undefined>

/** What an operation takes, and how it says that it got none of it. */
export interface Wanted {
  readonly operation: { readonly credentials: readonly CredentialKind[]; readonly bridgesOutages?: true }
  readonly unauthenticated: ProblemCode
}

export interface Presented {
  readonly headers: IncomingHttpHeaders
  readonly correlationId: string
}

const BEARER = /^Bearer +([\x21-\x7e]+)$/i

/**
 * Tries the resolvers that the operation takes and that recognise the credential, in order; the first success wins (S0
 * Authentication 1). Why one refused is in the log; the caller sees the operation's 401, or the resolver's code where
 * the operation is one of those that tell (`nsk_revoked`).
 */
export function createAuthenticate(resolvers: readonly CredentialResolver[], log: Logger): Authenticate {
  function refuse(plan: Wanted, refusals: readonly Refusal[], correlationId: string): never {
    for (const { log: cause } of refusals) log.info({ correlation_id: correlationId, cause }, 'credential refused')
    throw problem(refusals.find(({ code }) => code !== undefined)?.code ?? plan.unauthenticated)
  }

  function settle(plan: Wanted, outcome: Caller | Refusal, correlationId: string): Caller {
    return 'refused' in outcome ? refuse(plan, [outcome], correlationId) : outcome
  }

  async function tryAll(plan: Wanted, tries: readonly Try[], correlationId: string): Promise<Caller> {
    const refusals: Refusal[] = []
    for (const one of tries) {
      const outcome = await resolved(plan, one)
      if (!('refused' in outcome)) return outcome
      refusals.push(outcome)
    }
    return refuse(plan, refusals, correlationId)
  }

  return (plan, { headers, correlationId }) => {
    const kinds = plan.operation.credentials
    if (kinds.length === 0) return undefined
    const tries = triesOf(resolvers, kinds, headers)
    const [only] = tries
    if (only === undefined) return refuse(plan, [], correlationId)
    if (tries.length > 1) return tryAll(plan, tries, correlationId)
    const outcome = resolved(plan, only)
    if (!(outcome instanceof Promise)) return settle(plan, outcome, correlationId)
    return outcome.then((late) => settle(plan, late, correlationId))
  }
}

/** A resolver with what was presented to it. */
interface Try {
  readonly resolver: CredentialResolver
  readonly text: string
}

/** What is worth trying, in the order of the resolvers. */
function triesOf(
  resolvers: readonly CredentialResolver[],
  kinds: readonly CredentialKind[],
  headers: IncomingHttpHeaders,
): readonly Try[] {
  const bearer = BEARER.exec(headers.authorization ?? '')?.[1]
  const tries: Try[] = []
  for (const resolver of resolvers) {
    if (!kinds.includes(resolver.kind)) continue
    const text = resolver.cookie === undefined ? bearer : cookieOf(headers.cookie, resolver.cookie)
    if (text !== undefined && resolver.recognizes(text)) tries.push({ resolver, text })
  }
  return tries
}

function resolved(plan: Wanted, { resolver, text }: Try): ReturnType<CredentialResolver['resolve']> {
  const outcome = resolver.resolve(text)
  if (!(outcome instanceof Promise) || plan.operation.bridgesOutages !== true) return outcome
  return outcome.catch((failure: unknown) => bridge(resolver, text, failure))
}

/** @throws the failure, unless the datastore is away and the credential was confirmed lately. */
function bridge(resolver: CredentialResolver, text: string, failure: unknown): Caller {
  const isOutage = failure instanceof Problem && failure.code === 'datastore_unavailable'
  const caller = isOutage ? resolver.resolveStale?.(text) : undefined
  if (caller === undefined) throw failure
  return caller
}
