import { isRow, type Row } from '../output/members.ts'
import { createResolver } from '../session/references.ts'
import type { Session } from '../session/session.ts'
import { usageError } from '../errors/cli-error.ts'
import { keyOf, MANAGED_BY, type Document, type LiveObject } from './document.ts'
import { createGateway } from './gateway.ts'
import type { Kind, World } from './kind.ts'
import { KINDS } from './kinds.ts'
import { createNames, type Names } from './names.ts'
import type { LabelType } from '../../shared/selectors/definition.ts'

/** The label whose value is the id of a bridge. */
export const RELAY = 'platform/relay'

/**
 * Reads everything that files may have of the Domain that commands work in. `documents` are those of the files: what they create may be
 * named before it exists.
 *
 * @throws ProblemAnswer where the caller may not read a kind.
 */
export async function readDomain(session: Session, documents: readonly Document[] = []): Promise<World> {
  const api = createGateway(session)
  const chosen = await createResolver(session).fallback('domains', {})
  if (chosen === undefined) throw usageError('--domain is missing', 'Add --domain, or set CTL_DOMAIN')
  const domain = await api.call('GetDomain', { id: chosen.id })
  const names = createNames(chosen.id, String(domain['slug']))
  const created = referencesOf(documents)
  const live = new Map<string, readonly LiveObject[]>()
  const isKnown = (reference: string): boolean =>
    names.reference(reference) !== undefined || created.has(reference.replace(/^(?:network|workload):/, 'resource:'))
  const world = { api, names, domain, live, isKnown }
  // Each kind refers to names of those before it.
  for (const kind of KINDS) live.set(kind.name, await kind.read(world))
  for (const kind of KINDS) live.set(kind.name, await labelled(world, kind))
  return world
}

/** References to the objects that documents create. */
function referencesOf(documents: readonly Document[]): ReadonlySet<string> {
  const types: Readonly<Record<string, string>> = { 'service-identity': 'service' }
  const present = documents.filter(({ isAbsent }) => isAbsent !== true)
  return new Set(
    present.map(({ kind, name }) => `${types[kind] ?? kind}:${name}`).filter((one) => !one.startsWith('node:')),
  )
}

async function labelled(world: World, kind: Kind): Promise<readonly LiveObject[]> {
  const objects = world.live.get(kind.name) ?? []
  const { labels } = kind
  if (labels === undefined) return objects
  if (kind.name === 'node')
    return objects.map((object) => withLabels(world.names, object, labelsOfNode(world.names, object)))
  const rows = await world.api.all('ListDomainLabels', { id: world.names.domainId, kind: labels })
  const byObject = new Map<unknown, Row[]>()
  for (const row of rows) {
    const own = byObject.get(row['object_id'])
    if (own === undefined) byObject.set(row['object_id'], [row])
    else own.push(row)
  }
  return objects.map((object) => {
    const own = byObject.get(object.id) ?? []
    const entries = own.map((row) => [world.names.shownKey(String(row['qualified_key'])), row['value']] as const)
    return withLabels(world.names, object, Object.fromEntries(entries))
  })
}

/** Labels as the row of a node has them: bare keys of the Domain, ids of Projects, and every value as text. */
function labelsOfNode(names: Names, { members: { labels } }: LiveObject): Row {
  const types = new Map(names.definitions.map(({ qualifiedKey, type }) => [qualifiedKey, type]))
  const typed = Object.entries(isRow(labels) ? labels : {}).map(([key, value]) => {
    const qualified = /^(?:platform|project:[^/]+)\//.test(key) ? key : `domain:${names.domainId}/${key}`
    return [names.shownKey(qualified), typedValue(types.get(qualified), value)] as const
  })
  return Object.fromEntries(typed)
}

function typedValue(type: LabelType | undefined, value: unknown): unknown {
  if (type === 'integer') return Number(value)
  return type === 'boolean' ? value === 'true' : value
}

function withLabels(names: Names, object: LiveObject, all: Row): LiveObject {
  const { [MANAGED_BY]: managedBy, ...own } = all
  const { labels: _raw, ...members } = object.members
  const sorted = Object.entries(own).toSorted(([one], [other]) => (one < other ? -1 : 1))
  const labels = Object.fromEntries(sorted.map(([key, value]) => [key, shownValue(names, key, value)]))
  return {
    ...object,
    members: sorted.length === 0 ? members : { ...members, labels },
    managedBy: typeof managedBy === 'string' ? managedBy : undefined,
  }
}

function shownValue(names: Names, key: string, value: unknown): unknown {
  return key === RELAY ? (names.nameOf('resource', String(value)) ?? value) : value
}

/** The value of a label as the API takes it. */
export function sentValue(names: Names, key: string, value: unknown): unknown {
  return key === RELAY ? (names.idOf('resource', String(value)) ?? value) : value
}

/** The live objects by kind and name. */
export function liveByKey({ live }: World): ReadonlyMap<string, LiveObject> {
  return new Map([...live.values()].flat().map((object) => [keyOf(object), object]))
}
