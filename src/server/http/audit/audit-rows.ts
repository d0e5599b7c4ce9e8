import { PROBLEMS, type Problem } from '../../../shared/problems.ts'
import type { AuditEntry } from '../../ports/unit-of-work.ts'
import type { OperationPlan } from '../operation-plan.ts'
import { questionOf } from '../auth/leg-questions.ts'
import { Refusal } from '../auth/refusal.ts'
import type { TemplateSources } from '../template.ts'

/** What is known of a request when its row is made. */
export interface AuditSubject {
  readonly plan: OperationPlan
  /** Subject of the caller, or `anonymous`. */
  readonly subject: string
  readonly callerDomainId: string | null
  readonly correlationId: string
  readonly sources: TemplateSources
  /** Set by the handler; takes precedence over the template. */
  readonly about: { readonly object: string; readonly domainId: string | null | undefined } | undefined
  readonly context: Readonly<Record<string, unknown>>
  /** Why the answer, a success, is a denial (S0 RebacCheckResponse). */
  readonly denial: string | undefined
  /** Why the handler refused, where the problem code is less specific. */
  readonly refusal: string | undefined
  /** Whether a cached answer replaced one of the engine or the datastore. */
  readonly isStale: boolean
  /** Domain of an object, where that is known. */
  readonly domainOf: (object: string) => string | null | undefined
}

/** What decides whether a success is audited. */
type Decided = Pick<AuditSubject, 'plan' | 'denial' | 'isStale'>

/**
 * The row of a decision that succeeded; undefined where the contract wants none, unless a cached decision was used.
 * Most requests have no row, and collect nothing for it.
 */
export function grantedRow({ plan, denial, isStale }: Decided, requestOf: () => AuditSubject): AuditEntry | undefined {
  if (denial !== undefined) return plan.audit && rowOf(requestOf(), { outcome: 'permission_denied', reason: denial })
  return plan.audit?.when === 'all' || isStale
    ? rowOf(requestOf(), { outcome: 'granted', reason: 'granted' })
    : undefined
}

/** The row of a request that failed; undefined where the contract wants none. */
export function failureRow(request: AuditSubject, error: unknown, answer: Problem): AuditEntry | undefined {
  const { audit } = request.plan
  if (audit === undefined) return undefined
  if (error instanceof Refusal) return refusalRow(request, error)
  if (answer.status === 401 || answer.status === 403)
    return rowOf(request, { outcome: 'permission_denied', reason: answer.code })
  if (audit.when === 'denials') return undefined
  return rowOf(request, {
    outcome: audit.outcomes[answer.code] ?? outcomeOf(answer),
    reason: request.refusal ?? answer.code,
  })
}

function refusalRow(request: AuditSubject, { answer, missing, reason }: Refusal): AuditEntry {
  const isPathGate = answer.code === request.plan.operation.gate.ownNode?.mismatch
  const row = rowOf(request, {
    outcome: 'permission_denied',
    reason: isPathGate ? answer.code : reason,
    object: missing.object,
    context: { missing_relation: missing.relation },
  })
  return isPathGate ? { ...row, relation: request.plan.audit?.pathGate ?? row.relation } : row
}

/** S1 Degradation 2. */
const STALE = 'stale_cache'

interface RowDetails {
  readonly outcome: AuditEntry['outcome']
  readonly reason: string
  readonly object?: string
  readonly context?: Readonly<Record<string, unknown>>
}

function rowOf(request: AuditSubject, { outcome, reason, object: fallback, context }: RowDetails): AuditEntry {
  // Where all legs are required, the row of a denial names the one that failed.
  const failed = request.plan.needsAllLegs ? fallback : undefined
  const object = namedObject(request) ?? failed ?? objectOfLegs(request) ?? fallback ?? 'platform:main'
  return {
    domainId: domainOf(request, object),
    subject: request.subject,
    relation: relationOf(request),
    object,
    outcome,
    reason: isDecision(outcome) && request.isStale ? STALE : reason,
    correlationId: request.correlationId,
    context: contextOf(request, context),
  }
}

/** The members that the contract requires in every row, those set by the handler, and those of the outcome. */
function contextOf(request: AuditSubject, more: RowDetails['context']): AuditEntry['context'] {
  const members = request.plan.audit?.context ?? []
  if (members.length === 0) return more === undefined ? request.context : { ...request.context, ...more }
  const { query } = request.sources
  const fixed = members.map(([name, member]) => {
    const asked = member.query === undefined ? undefined : query[member.query]
    return [name, asked ?? member.otherwise]
  })
  return { ...Object.fromEntries(fixed), ...request.context, ...more }
}

/** The relation of the contract, or the one that it names for a value of the body. */
function relationOf({ plan: { audit }, sources }: AuditSubject): string {
  const value = audit?.byBody === undefined ? undefined : sources.body?.[audit.byBody.member]
  const named = typeof value === 'string' ? audit?.byBody?.relations.get(value) : undefined
  return named ?? audit?.relation ?? ''
}

/** Whether the row records a decision of the authorizer, not another failure. */
function isDecision(outcome: AuditEntry['outcome']): boolean {
  return outcome === 'granted' || outcome === 'permission_denied'
}

/** The object of the row: the one set by the handler, else by the contract the audit rule's template or the gate's legs. */
export function auditedObject(request: AuditSubject): string | undefined {
  return namedObject(request) ?? objectOfLegs(request)
}

function namedObject({ plan, sources, about }: AuditSubject): string | undefined {
  return about === undefined ? plan.audit?.object?.render(sources) : about.object
}

function objectOfLegs({ plan, sources }: AuditSubject): string | undefined {
  for (const leg of plan.legs) {
    const question = questionOf(leg, sources)
    if (question !== undefined) return question.resource
  }
  return undefined
}

/** The chain that the row belongs to: the object's Domain where it is known, the platform's for the platform, else the caller's. */
function domainOf(request: AuditSubject, object: string): string | null {
  if (request.about?.domainId !== undefined) return request.about.domainId
  if (object.startsWith('platform:')) return null
  if (object.startsWith('domain:')) return uuidOrNull(object.slice('domain:'.length)) ?? request.callerDomainId
  return request.domainOf(object) ?? request.callerDomainId
}

function uuidOrNull(text: string): string | null {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) ? text : null
}

function outcomeOf({ code }: Problem): AuditEntry['outcome'] {
  const { status } = PROBLEMS[code]
  if (status === 404) return 'not_found'
  return status < 500 ? 'invariant_violation' : 'internal_error'
}
