import {
  accessOf,
  legsOf,
  mayBeStale,
  isMedia,
  ownerOf,
  pageSourceOf,
  rowLegsOf,
  type AnySchema,
  type CredentialKind,
  type Gate,
  type GateLeg,
  type MediaResponse,
  type Operation,
} from '../../shared/contract/operation.ts'
import { responseHeadersOf, responsesOf } from '../../shared/contract/held-calls.ts'
import { limitClassOf } from '../../shared/contract/limit-classes.ts'
import { isNoStore } from '../../shared/contract/no-store.ts'
import { bodyProblemOf } from '../../shared/contract/problem-codes.ts'
import { apiVersionsOf, majorOf, type ApiVersions } from './api-version.ts'
import { deprecationHeaders } from './deprecations.ts'
import type { AuditPlan, Leg, OperationPlan, RowFilter, SuccessPlan } from './operation-plan.ts'
import { pathIdsOf } from './parameters.ts'
import type { MountedSurface } from './request-context.ts'
import { compileTemplate, type CompiledTemplate, type Stage } from './template.ts'

/** A body that an operation does not have may still be sent; so much of it is read before it is refused. */
const UNWANTED_BODY_BYTES_MAX = 8 * 1024

/** Works out every operation of the surfaces. Throws on a contract that contradicts itself, naming the operation. */
export function planOperations(surfaces: readonly MountedSurface[]): readonly OperationPlan[] {
  const versions = apiVersionsOf(pathsOf(surfaces))
  return surfaces.flatMap((surface) =>
    Object.entries(surface.operations).map(([name, operation]) => {
      const id = idOf(name, operation)
      try {
        return planOperation({ id, name, operation }, surface, versions)
      } catch (error) {
        const prefix = error instanceof Error && error.message.startsWith('api deprecations:') ? '' : `${id}: `
        throw new Error(`${prefix}${error instanceof Error ? error.message : String(error)}`, { cause: error })
      }
    }),
  )
}

/** The paths of all operations. */
export function pathsOf(surfaces: readonly Pick<MountedSurface, 'operations'>[]): readonly string[] {
  return surfaces.flatMap(({ operations }) => Object.values(operations).map(({ path }) => path))
}

/** Operations of two major versions may have one name; cursors, held calls, logs and metrics must not mistake one for the other. */
function idOf(name: string, { path }: Operation): string {
  const major = majorOf(path)
  return major === undefined || major === 1 ? name : `v${major}:${name}`
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

interface Named {
  readonly id: string
  /** In the contract. */
  readonly name: string
  readonly operation: Operation
}

function planOperation({ id, name, operation }: Named, surface: MountedSurface, versions: ApiVersions): OperationPlan {
  const access = accessOf(operation)
  assertBody(operation)
  return {
    id,
    operation,
    versions,
    apiVersion: versions.headerFor(operation.path),
    handler: surface.handlers?.[name],
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
    pageSource: operation.paging && pageSourceOf(operation),
    parentOf: parentOf(operation),
    pathIds: pathIdsOf(operation),
    bodyProblem: bodyProblemOf(operation),
  }
}

function assertBody({ body, bodyBytesMax, credentials, ingest }: Operation): void {
  if (body !== undefined && bodyBytesMax === undefined) throw new Error('a body needs a cap')
  if (ingest === undefined) return
  if (body === undefined || credentials.some((kind) => kind !== 'nsk'))
    throw new Error('only bodies of nodes are ingest')
}

/** `scope=platform` fills no hole: the list of the platform is the one whose `domain_id` is empty. */
function parentOf({ path, gate, paging }: Operation): OperationPlan['parentOf'] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const objects = legsOf(gate)
    .map(({ object }) => object)
    .join(' ')
  const ofGate = [...objects.matchAll(/\{query\.(\w+)\}/g)].map(([, name = '']) => name)
  const selecting = [...ofGate, ...(paging?.parents ?? [])]
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
  return (ofPath, members) => [
    ...inPath.map((name) => textOf(ofPath[name])),
    ...selecting.map((name) => textOf(members[name])),
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
  const owner = ownerOf(gate)
  const own = owner === undefined ? undefined : compileTemplate(owner)
  const stages = stagesOf(gate, legs, own)
  const foldUnless = (gate.foldUnless ?? []).map(compileLeg)
  assertFoldable(stages.gateStage, foldUnless)
  return {
    legs,
    needsAllLegs: gate.allOf !== undefined,
    ...stages,
    own,
    denial: gate.denial && compileLeg(gate.denial),
    foldFor: gate.foldFor && compileLeg(gate.foldFor),
    foldUnless,
    rows: rowFilterOf(gate),
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

function rowFilterOf(gate: Gate): RowFilter | undefined {
  if (gate.rows === undefined) return undefined
  return {
    legs: rowLegsOf(gate).map(compileLeg),
    own: gate.own === undefined ? undefined : compileTemplate(gate.own),
  }
}

function stagesOf(
  { allOf, after }: Gate,
  legs: readonly Leg[],
  own: CompiledTemplate | undefined,
): Pick<OperationPlan, 'legsAt' | 'gateStage'> {
  const stages = legs.map((leg) => latest([stageOf(leg), after ?? 'request']))
  const gateStage = latest([...stages, own?.stage ?? 'request', after ?? 'request'])
  const legsOfStage = (stage: Stage): readonly Leg[] =>
    legs.filter((_leg, index) => (allOf === undefined ? gateStage : stages[index]) === stage)
  return {
    gateStage: legs.length === 0 && own === undefined ? undefined : gateStage,
    legsAt: { request: legsOfStage('request'), body: legsOfStage('body'), row: legsOfStage('row') },
  }
}

function assertConsistent(gate: Gate): void {
  const { open, anyOf, allOf, denial, after } = gate
  const kinds = [open, anyOf, allOf].filter((kind) => kind !== undefined)
  const isOwnersOnly = kinds.length === 0 && ownerOf(gate) !== undefined
  if (kinds.length !== 1 && !isOwnersOnly)
    throw new Error('a gate is open, or has legs of which one or all must be held')
  if (isOwnersOnly && denial === undefined) throw new Error('a gate of the owner alone names what others lack')
  if (open !== undefined && after !== undefined) throw new Error('an open gate is not asked after the body')
  assertAllOf(gate)
  assertOwner(gate)
}

function assertAllOf({ allOf = [], denial }: Gate): void {
  if (allOf.length > 0 && denial !== undefined)
    throw new Error('a gate of which all legs must be held names the leg that fails')
  if (allOf.some(({ grantedBy }) => grantedBy !== undefined))
    throw new Error('no single leg grants where all must be held')
}

function assertOwner(gate: Gate): void {
  const { open, allOf, fold, foldFor, foldUnless } = gate
  if (ownerOf(gate) !== undefined && (open !== undefined || allOf !== undefined))
    throw new Error('an owner is admitted beside legs of which one is enough, or alone')
  if (foldUnless !== undefined && (fold === undefined || foldFor !== undefined))
    throw new Error('a fold is narrowed once, by foldFor or by foldUnless')
}

/** A leg that is asked with the refusal can use only what is known by then. */
function assertFoldable(gateStage: Stage | undefined, foldUnless: readonly Leg[]): void {
  const stages = [gateStage ?? 'request', ...foldUnless.map(stageOf)]
  if (latest(stages) !== stages[0]) throw new Error('a leg that narrows a fold needs more than the gate')
}

function compileLeg({ relation, object, when, grantedBy }: GateLeg): Leg {
  return { relation: compileTemplate(relation), object: compileTemplate(object), when, grantedBy }
}

/** A leg that a value of the body selects cannot be asked earlier. */
function stageOf({ relation, object, when }: Leg): Stage {
  return latest([relation.stage, object.stage, when === undefined ? 'request' : 'body'])
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
    outcomes: audit.outcomes ?? {},
    pathGate: audit.pathGate ?? audit.relation,
    faults: audit.faults ?? 'authz_errors',
    context: Object.entries(audit.context ?? {}),
  }
}
