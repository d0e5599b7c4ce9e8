import type { IncomingHttpHeaders } from 'node:http'
import { problem } from '../../../shared/problems.ts'
import type { CaveatFacts } from '../../ports/authorizer.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import type { Authenticate } from './authenticate.ts'
import type { Asker, Gatekeeper } from './authorize.ts'
import type { OperationPlan } from '../operation-plan.ts'
import type { Reauthorization } from '../request-context.ts'
import type { TemplateSources } from '../template.ts'

export interface ReauthorizationServices {
  readonly authenticate: Authenticate
  readonly gatekeeper: Gatekeeper
  readonly clock: Clock
}

/** The parts of the request that are kept. */
export interface Admitted {
  readonly plan: OperationPlan
  readonly headers: IncomingHttpHeaders
  readonly correlationId: string
  readonly sources: TemplateSources
  readonly facts: CaveatFacts
  readonly subject: string
}

/** What a credential came in. */
export function credentialHeaders({ authorization, cookie }: IncomingHttpHeaders): IncomingHttpHeaders {
  return { ...(authorization !== undefined && { authorization }), ...(cookie !== undefined && { cookie }) }
}

/** Members of the caller that templates draw on. */
export function callerMembers({ subject, domainId, id }: Caller): Readonly<Record<string, unknown>> {
  return { subject, domain_id: domainId, id }
}

/** Keeps what a later authorization needs. Only for gates that path, query and caller decide. */
export function createReauthorization(services: ReauthorizationServices, admitted: Admitted): Reauthorization {
  const { plan } = admitted
  if (plan.gateStage === 'row' || plan.gateStage === 'body')
    throw new Error(`${plan.id}: its gate cannot be asked again`)
  return new StoredReauthorization(services, admitted)
}

class StoredReauthorization implements Reauthorization {
  readonly #services: ReauthorizationServices
  readonly #admitted: Admitted

  constructor(services: ReauthorizationServices, admitted: Admitted) {
    this.#services = services
    this.#admitted = admitted
  }

  confirm(): void | Promise<void> {
    const { plan, headers, correlationId } = this.#admitted
    const caller = this.#services.authenticate(plan, { headers, correlationId })
    return caller instanceof Promise ? caller.then((known) => this.#admit(known)) : this.#admit(caller)
  }

  #admit(caller: Caller | undefined): void | Promise<void> {
    const { plan, subject } = this.#admitted
    if (caller?.subject !== subject) throw problem(plan.unauthenticated)
    const { gatekeeper, clock } = this.#services
    const sources = { ...this.#admitted.sources, caller: callerMembers(caller) }
    gatekeeper.checkScope(plan, caller, sources)
    gatekeeper.checkOwnNode(plan, caller, sources.path)
    const facts = { ...this.#admitted.facts, nowMs: clock.now() }
    const ignored = (): void => undefined
    const asker: Asker = { caller, facts, mayBeStale: plan.mayBeStale, degraded: ignored, grantedBy: ignored }
    return gatekeeper.passGate(plan, asker, { stage: 'request', sources })
  }
}
