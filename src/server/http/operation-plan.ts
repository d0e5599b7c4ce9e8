import type { AuditMember, CredentialKind, GateLeg, Operation } from '../../shared/contract/operation.ts'
import type { LimitClass } from '../../shared/contract/limit-classes.ts'
import type { InvalidCode, PlainProblemCode, ProblemCode } from '../../shared/problems.ts'
import type { ApiVersions } from './api-version.ts'
import type { DeprecationHeaders } from './deprecations.ts'
import type { AnyHandler } from './request-context.ts'
import type { CompiledTemplate, Stage } from './template.ts'

/** A gate leg whose template is compiled. */
export interface Leg {
  readonly relation: CompiledTemplate
  readonly object: CompiledTemplate
  readonly when: GateLeg['when']
  readonly grantedBy: string | undefined
}

/** Who is shown a row of a page. */
export interface RowFilter {
  /** Callers that hold one of them. */
  readonly legs: readonly Leg[]
  /** The subject whose row it is. */
  readonly own: CompiledTemplate | undefined
}

/** One operation as the edge runs it: its contract entry, compiled once at start. */
export interface OperationPlan {
  /** That of the contract; of a later major version than v1 with the version in front: `v2:GetThing`. */
  readonly id: string
  /** The major versions beside each other, of which it belongs to one. */
  readonly versions: ApiVersions
  /** What its answers say of them. */
  readonly apiVersion: string
  readonly operation: Operation
  readonly handler: AnyHandler | undefined
  /** The scope that a token must have: `<surface>:<access>`. */
  readonly scope: string
  /** `<surface>:write` also satisfies a read. */
  readonly scopeImpliedBy: string | undefined
  readonly unauthenticated: PlainProblemCode
  /** The rate limits of a call, by the kind of its credential. */
  readonly limitClasses: Readonly<Partial<Record<CredentialKind, LimitClass>>>
  /** Whether what it asks of the authorizer may be answered from memory during an outage. */
  readonly mayBeStale: boolean
  readonly legs: readonly Leg[]
  /** Whether every leg is required; else one is enough. */
  readonly needsAllLegs: boolean
  /** The legs of each stage: each leg at its own stage where all are required, else all of them at the last stage that one needs. */
  readonly legsAt: Readonly<Record<Stage, readonly Leg[]>>
  /** The stage at which the gate is decided: the last one that any of its legs, or `own`, needs. */
  readonly gateStage: Stage | undefined
  /** The subject that is admitted without a check. */
  readonly own: CompiledTemplate | undefined
  readonly denial: Leg | undefined
  readonly foldFor: Leg | undefined
  readonly foldUnless: readonly Leg[]
  readonly rows: RowFilter | undefined
  readonly probes: ReadonlyMap<string, Leg>
  readonly skipFor: ReadonlySet<CredentialKind>
  readonly audit: AuditPlan | undefined
  readonly deprecation: DeprecationHeaders | undefined
  /** Response headers that the handler may set. */
  readonly headers: Readonly<Record<string, string>>
  /** Every answer says `Cache-Control: no-store`. */
  readonly noStore: boolean
  /** The status of a success unless the handler chooses another. */
  readonly success: SuccessPlan
  readonly successes: ReadonlyMap<number, SuccessPlan>
  /** Maximum bytes of the body; where the operation has no body, they are read and discarded. */
  readonly bodyBytesMax: number
  readonly overCap: PlainProblemCode
  /** Problem code returned when the datastore is unavailable: only reads have one of their own (S1 Degradation). */
  readonly outage: PlainProblemCode
  /** Where the page of a list is asked for; undefined where the operation is no list with pages. */
  readonly pageSource: 'query' | 'body' | undefined
  /** What a list belongs to: the values of the path's members, and of those of the query or body that select it. */
  readonly parentOf: (path: Members, members: Members) => readonly string[]
  /** The path's members where all of them are ids. */
  readonly pathIds: readonly string[] | undefined
  /** The 400 of a body that cannot be decoded. */
  readonly bodyProblem: InvalidCode
}

type Members = Readonly<Record<string, unknown>>

/** Whether a stage has a part of the gate. */
export function isGatedAt({ legsAt, own, gateStage }: OperationPlan, stage: Stage): boolean {
  return legsAt[stage].length > 0 || (own !== undefined && gateStage === stage)
}

export interface SuccessPlan {
  readonly status: number
  /** Content type; undefined where it has no body. */
  readonly media: string | undefined
  /** Makes the payload from what the handler returned. */
  readonly encode: (value: unknown) => unknown
  /** Its body is a stream that one side ends. */
  readonly streams: boolean
  /** Its body is complete, as bytes. */
  readonly rendered: boolean
}

export interface AuditPlan {
  readonly relation: string
  readonly when: 'all' | 'denials'
  readonly object: CompiledTemplate | undefined
  /** Relations by the value of a member of the body. */
  /** Outcomes of refusals with these codes, instead of those of their statuses. */
  readonly outcomes: { readonly [Code in ProblemCode]?: 'identity_conflict' }
  readonly byBody: { readonly member: string; readonly relations: ReadonlyMap<string, string> } | undefined
  readonly pathGate: string
  /** Context member that counts rows and fields hidden because a check failed. */
  readonly faults: string
  /** Members that every row's context has, by name. */
  readonly context: readonly (readonly [string, AuditMember])[]
}
