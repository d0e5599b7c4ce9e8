import {
  accessOf,
  legsOf,
  mayBeStale,
  isMedia,
  type AnySchema,
  type AuditMember,
  type CredentialKind,
  type Gate,
  type GateLeg,
  type MediaResponse,
  type Operation,
} from '../../shared/contract/operation.ts'
import { responseHeadersOf, responsesOf } from '../../shared/contract/held-calls.ts'
import { limitClassOf, type LimitClass } from '../../shared/contract/limit-classes.ts'
import { isNoStore } from '../../shared/contract/no-store.ts'
import { bodyProblemOf } from '../../shared/contract/problem-codes.ts'
import type { InvalidCode, PlainProblemCode } from '../../shared/problems.ts'
import { pathIdsOf } from './parameters.ts'
import type { AnyHandler, MountedSurface } from './request-context.ts'
import { deprecationHeaders, type DeprecationHeaders } from './deprecations.ts'
import { compileTemplate, type CompiledTemplate, type Stage } from './template.ts'

/** A gate leg whose template is compiled. */
export interface Leg {
  readonly relation: string
  readonly object: CompiledTemplate
  readonly when: GateLeg['when']
}

/** One operation as the edge runs it: the contract's words worked out once at start. */
export interface OperationPlan {
  readonly id: string
  readonly operation: Operation
  readonly handler: AnyHandler | undefined
  /** What a token's scopes must hold: `<surface>:<access>`. */
  readonly scope: string
  /** `<surface>:write` also satisfies a read. */
  readonly scopeImpliedBy: string | undefined
  readonly unauthenticated: PlainProblemCode
  /** What a call counts against, by the kind of its credential. */
  readonly limitClasses: Readonly<Partial<Record<CredentialKind, LimitClass>>>
  /** Whether what it asks of the authorizer may be answered from memory during an outage. */
  readonly mayBeStale: boolean
  readonly legs: readonly Leg[]
  /** Whether every leg must be held; else one is enough. */
  readonly needsAllLegs: boolean
  /** Which legs are asked when: each by itself where all must be held, else all of them at the last stage that one needs. */
  readonly legsAt: Readonly<Record<Stage, readonly Leg[]>>
  /** When the gate has been passed: the last stage that any of its legs needs. */
  readonly gateStage: Stage | undefined
  readonly denial: Leg | undefined
  readonly foldFor: Leg | undefined
  readonly rows: Leg | undefined
  readonly probes: ReadonlyMap<string, Leg>
  readonly skipFor: ReadonlySet<CredentialKind>
  readonly audit: AuditPlan | undefined
  readonly deprecation: DeprecationHeaders | undefined
  /** Response headers that the handler may set. */
  readonly headers: Readonly<Record<string, string>>
  /** Every answer says `Cache-Control: no-store`. */
  readonly noStore: boolean
  /** The success that is answered unless the handler chooses another. */
  readonly success: SuccessPlan
  readonly successes: ReadonlyMap<number, SuccessPlan>
  /** Bytes; what is read and thrown away where the operation has no body. */
  readonly bodyBytesMax: number
  readonly overCap: PlainProblemCode
  /** What a datastore that is away is to the caller: reads say so, writes have no code of their own (S1 Degradation). */
  readonly outage: PlainProblemCode
  /** What a list belongs to: the values of the path's members, and of those of the query that its gate names. */
  readonly parentOf: (path: Members, query: Members) => readonly string[]
  /** The path's members where all of them are ids. */
  readonly pathIds: readonly string[] | undefined
  /** The 400 of a body that cannot be decoded. */
  readonly bodyProblem: InvalidCode
}

type Members = Readonly<Record<string, unknown>>

export interface SuccessPlan {
  readonly status: number
  /** Content type; undefined where it has no body. */
  readonly media: string | undefined
  /** Makes the payload from what the handler returned. */
  readonly encode: (value: unknown) => unknown
  /** Its body goes on until one side ends it. */
  readonly streams: boolean
  /** Its body is there as bytes. */
  readonly rendered: boolean
}

export interface AuditPlan {
  readonly relation: string
  readonly when: 'all' | 'denials'
  readonly object: CompiledTemplate | undefined
  /** Relations by the value of a member of the body. */
  readonly byBody: { readonly member: string; readonly relations: ReadonlyMap<string, string> } | undefined
  readonly pathGate: string
  /** Context member that counts rows and fields which a fault left out. */
  readonly faults: string
  /** Members that every row's context has, by name. */
  readonly context: readonly (readonly [string, AuditMember])[]
}

/** A body that an operation does not have may still be sent; so much of it is read before it is refused. */
const UNWANTED_BODY_BYTES_MAX = 8 * 1024

/** Works out every operation of the surfaces. Throws on a contract that contradicts itself, naming the operation. */
export function planOperations(surfaces: readonly MountedSurface[]): readonly OperationPlan[] {
  return surfaces.flatMap((surface) =>
    Object.entries(surface.operations).map(([id, operation]) => {
      try {
        return planOperation(id, operation, surface)
      } catch (error) {
        const prefix = error instanceof Error && error.message.startsWith('api deprecations:') ? '' : `${id}: `
        throw new Error(`${prefix}${error instanceof Error ? error.message : String(error)}`, { cause: error })
      }
    }),
  )
}

function planSuccesses(operation: Operation): Pick<OperationPlan, 'success' | 'successes'> {
  const { rendered, responses } = operation
  const planned = Object.entries(responsesOf(operation)).map(([status, shape]) => ({
    status: Number(status),
    ...payloadOf(shape),
    rendered: rendered === true && status === '200',
  }))
  // What is not held is answered first, whatever the order of the numbers.
  const success = planned.find(({ status }) => status in responses)
  if (success === undefined) throw new Error('a success answer is missing')
  return { success, successes: new Map(planned.map((each) => [each.status, each])) }
}

function payloadOf(shape: AnySchema | MediaResponse | null): Omit<SuccessPlan, 'status' | 'rendered'> {
  if (shape === null) return { media: undefined, encode: () => undefined, streams: false }
  if (isMedia(shape)) return { media: shape.media, encode: (value) => value, streams: shape.streams === true }
  return { media: 'application/json; charset=utf-8', encode: JSON.stringify, streams: false }
}

function planOperation(id: string, operation: Operation, surface: MountedSurface): OperationPlan {
  const access = accessOf(operation)
  if (operation.body !== undefined && operation.bodyBytesMax === undefined) throw new Error('a body needs a cap')
  return {
    id,
    operation,
    handler: surface.handlers?.[id],
    scope: `${surface.name}:${access}`,
    scopeImpliedBy: access === 'read' ? `${surface.name}:write` : undefined,
    limitClasses: Object.fromEntries(operation.credentials.map((kind) => [kind, limitClassOf(operation, kind)])),
    mayBeStale: mayBeStale(operation),
    ...planGate(operation),
    audit: planAudit(operation),
    deprecation: deprecationHeaders(id, operation.deprecated),
    headers: responseHeadersOf(operation),
    noStore: isNoStore(operation),
    ...planSuccesses(operation),
    ...planDefaults(operation),
    outage: access === 'read' && operation.credentials.length > 0 ? 'datastore_unavailable' : 'internal',
    parentOf: parentOf(operation),
    pathIds: pathIdsOf(operation),
    bodyProblem: bodyProblemOf(operation),
  }
}

/** `scope=platform` fills no hole: the list of the platform is the one whose `domain_id` is empty. */
function parentOf({ path, gate, paging }: Operation): OperationPlan['parentOf'] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const objects = legsOf(gate)
    .map(({ object }) => object)
    .join(' ')
  const ofGate = [...objects.matchAll(/\{query\.(\w+)\}/g)].map(([, name = '']) => name)
  const inQuery = [...ofGate, ...(paging?.parents ?? [])]
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
  return (ofPath, ofQuery) => [
    ...inPath.map((name) => textOf(ofPath[name])),
    ...inQuery.map((name) => textOf(ofQuery[name])),
  ]
}

function planDefaults({ unauthenticated, bodyBytesMax, overCap }: Operation) {
  return {
    unauthenticated: unauthenticated ?? ('unauthenticated' as const),
    bodyBytesMax: bodyBytesMax ?? UNWANTED_BODY_BYTES_MAX,
    overCap: overCap ?? ('request_body_too_large' as const),
  }
}

function planGate({ gate, credentials }: Operation) {
  assertConsistent(gate)
  const legs = legsOf(gate).map(compileLeg)
  return {
    legs,
    needsAllLegs: gate.allOf !== undefined,
    ...stagesOf(gate, legs),
    denial: gate.denial && compileLeg(gate.denial),
    foldFor: gate.foldFor && compileLeg(gate.foldFor),
    rows: gate.rows && compileLeg(gate.rows),
    probes: new Map(Object.entries(gate.probes ?? {}).map(([name, leg]) => [name, compileLeg(leg)])),
    skipFor: skippedKinds(gate, credentials),
  }
}

/** A node's own credential is held to the path, never to a relation (S0 Authentication 4). */
function skippedKinds(
  { skipFor = [], ownNode }: Gate,
  credentials: readonly CredentialKind[],
): ReadonlySet<CredentialKind> {
  return new Set(ownNode && credentials.includes('nsk') ? [...skipFor, 'nsk' as const] : skipFor)
}

function stagesOf({ allOf, after }: Gate, legs: readonly Leg[]): Pick<OperationPlan, 'legsAt' | 'gateStage'> {
  const stages = legs.map((leg) => latest([stageOf(leg), after ?? 'request']))
  const gateStage = latest(stages)
  const legsOfStage = (stage: Stage): readonly Leg[] =>
    legs.filter((_leg, index) => (allOf === undefined ? gateStage : stages[index]) === stage)
  return {
    gateStage: legs.length === 0 ? undefined : gateStage,
    legsAt: { request: legsOfStage('request'), body: legsOfStage('body'), row: legsOfStage('row') },
  }
}

function assertConsistent({ open, anyOf, allOf, denial, after }: Gate): void {
  const kinds = [open, anyOf, allOf].filter((kind) => kind !== undefined)
  if (kinds.length !== 1) throw new Error('a gate is open, or has legs of which one or all must be held')
  if (allOf !== undefined && denial !== undefined)
    throw new Error('a gate of which all legs must be held names the leg that fails')
  if (open !== undefined && after !== undefined) throw new Error('an open gate is not asked after the body')
}

function compileLeg({ relation, object, when }: GateLeg): Leg {
  return { relation, object: compileTemplate(object), when }
}

/** A leg that a value of the body selects cannot be asked earlier. */
function stageOf({ object: { stage }, when }: Leg): Stage {
  return when !== undefined && stage === 'request' ? 'body' : stage
}

function latest(stages: readonly Stage[]): Stage {
  return (['row', 'body'] as const).find((stage) => stages.includes(stage)) ?? 'request'
}

function planAudit({ audit }: Operation): AuditPlan | undefined {
  if ('none' in audit) return undefined
  return {
    relation: audit.relation,
    when: audit.when,
    object: audit.object === undefined ? undefined : compileTemplate(audit.object),
    byBody: audit.byBody && { ...audit.byBody, relations: new Map(Object.entries(audit.byBody.relations)) },
    pathGate: audit.pathGate ?? audit.relation,
    faults: audit.faults ?? 'authz_errors',
    context: Object.entries(audit.context ?? {}),
  }
}
