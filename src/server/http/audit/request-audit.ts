import type { Logger } from 'pino'
import type { Authorizer } from '../../ports/authorizer.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import type { AuditEntry, CarriedAudit } from '../../ports/unit-of-work.ts'
import type { OperationPlan } from '../operation-plan.ts'
import { NO_MEMBERS } from '../parameters.ts'
import type { TemplateSources } from '../template.ts'
import type { TraceMarks } from '../../ports/tracing.ts'
import { logMarks } from '../trace-context.ts'
import { auditedObject, grantedRow, type AuditSubject } from './audit-rows.ts'

/** What the audit row of a request takes from the request. */
export interface AuditedRequest {
  readonly plan: OperationPlan
  readonly correlationId: string
  readonly trace: TraceMarks | undefined
  readonly knownCaller: Caller | undefined
  sources(): TemplateSources
}

export interface RequestAuditServices {
  readonly authorizer: Authorizer | undefined
  readonly log: Logger
}

/** Collects the members of one request's audit row while the request runs. A class, as the request is, for speed. */
export class RequestAudit {
  /** Whether the row is in the datastore, with the change. */
  isCarried = false
  /** Whether a cached answer replaced one of the engine or the datastore. */
  isStale = false
  #context: Record<string, unknown> | undefined
  #about: AuditSubject['about']
  #denial: string | undefined
  #refusal: string | undefined
  /** Domains of objects that the engine had to be asked for. */
  #domains: Map<string, string | null> | undefined
  readonly #request: AuditedRequest
  readonly #services: RequestAuditServices

  constructor(request: AuditedRequest, services: RequestAuditServices) {
    this.#request = request
    this.#services = services
  }

  note(context: Readonly<Record<string, unknown>>): void {
    this.#context = { ...this.#context, ...context }
  }

  about(object: string, domainId: string | null | undefined): void {
    this.#about = { object, domainId }
  }

  /** The object that the handler has named; undefined where it named none. */
  namedObject(): string | undefined {
    return this.#about?.object
  }

  denied(reason: string): void {
    this.#denial = reason
  }

  refusedFor(reason: string): void {
    this.#refusal = reason
  }

  subject(): AuditSubject {
    const { plan, knownCaller: caller, correlationId } = this.#request
    const { authorizer } = this.#services
    return {
      plan,
      subject: caller?.subject ?? 'anonymous',
      callerDomainId: caller?.domainId ?? null,
      correlationId,
      sources: this.#request.sources(),
      about: this.#about,
      context: this.#context ?? NO_MEMBERS,
      denial: this.#denial,
      refusal: this.#refusal,
      isStale: this.isStale,
      domainOf: (object) => this.#domains?.get(object) ?? knownDomain(authorizer, object),
    }
  }

  /** The row of the request's success; undefined where none is wanted. */
  grantedRow(): AuditEntry | undefined {
    const decided = { plan: this.#request.plan, denial: this.#denial, isStale: this.isStale }
    return grantedRow(decided, () => this.subject())
  }

  grantedRows(): readonly AuditEntry[] {
    const row = this.grantedRow()
    return row === undefined ? [] : [row]
  }

  carry(): CarriedAudit {
    return { rows: this.grantedRows(), carried: () => (this.isCarried = true) }
  }

  /**
   * Waits for the gate, and meanwhile asks for the Domain of the row's object where that is not known yet. The row of an
   * unknown object, or of one whose Domain cannot be found now, goes to the caller's chain.
   */
  besideGate(gate: void | Promise<void>): void | Promise<void> {
    const { authorizer } = this.#services
    if (authorizer === undefined || authorizer.kind === 'embedded') return gate
    const object = auditedObject(this.subject())
    if (object === undefined || /^(?:platform|domain):/.test(object)) return gate
    return bothDone(gate, this.#learnDomain(authorizer, object))
  }

  /** Asks whether a row or field may be shown. A failed check hides it, and the audit row counts the failures (S0 Principals). */
  withoutFaults(ask: () => boolean | Promise<boolean>): boolean | Promise<boolean> {
    try {
      const held = ask()
      // A promise for each row of a page costs more than the checks of the embedded engine.
      return held instanceof Promise ? held.catch((error: unknown) => this.#leaveOut(error)) : held
    } catch (error) {
      return this.#leaveOut(error)
    }
  }

  #leaveOut(error: unknown): false {
    this.#services.log.warn({ err: error, ...logMarks(this.#request) }, 'a row or field was left out')
    const name = this.#request.plan.audit?.faults ?? 'authz_errors'
    this.note({ [name]: Number(this.#context?.[name] ?? 0) + 1 })
    return false
  }

  async #learnDomain(authorizer: Authorizer, object: string): Promise<void> {
    try {
      const domain = await authorizer.domainOf(object)
      if (domain !== undefined) (this.#domains ??= new Map()).set(object, domain)
    } catch (error) {
      this.#services.log.warn({ err: error, ...logMarks(this.#request) }, "an audit row stays in its caller's chain")
    }
  }
}

/** The object's Domain where it is known without waiting: a missing one must not keep the row from being written. */
function knownDomain(authorizer: Authorizer | undefined, object: string): string | null | undefined {
  if (authorizer?.kind !== 'embedded') return undefined
  try {
    const domain = authorizer.domainOf(object)
    if (!(domain instanceof Promise)) return domain
    // The engine waits for its lease, and fails in an outage. An unhandled rejection would end the server.
    domain.catch(() => undefined)
    return undefined
  } catch {
    return undefined
  }
}

async function bothDone(gate: void | Promise<void>, learned: Promise<void>): Promise<void> {
  const [outcome] = await Promise.allSettled([gate, learned])
  if (outcome.status === 'rejected') throw outcome.reason
}
