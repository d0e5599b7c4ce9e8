import { Failure } from './failure.ts'
import type { Api } from './client.ts'
import type { Me, NodeSummary } from './operations.ts'
import { allPages } from './read-fleet.ts'

/** A reference as the API writes it, or why there is none. */
export type Found = { readonly reference: string } | { readonly fault: string }

/** Where names are looked up. */
export interface Places {
  readonly api: Api
  readonly me: Pick<Me, 'subject'>
  readonly domain: { readonly id: string }
  readonly domains: readonly Candidate[]
  readonly nodes: readonly Pick<NodeSummary, 'id' | 'display_name'>[]
}

/** An object that a name may mean. */
interface Candidate {
  readonly id: string
  readonly slug?: string
  readonly handle?: string | undefined
  readonly display_name: string
}

const PAGES_MAX = 5
const LIMIT = '200'
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
/** Fewer digits of an id are no name. */
const PIECE = /^[0-9a-f]{6,}$/i

interface Asked {
  readonly kind: string
  readonly name: string
}

/**
 * Finds what a person names as the command line does: `me`, `platform`, `user:NAME`, `service:NAME`, `node:NAME`, `project:NAME`,
 * `group:NAME`, `domain:NAME`, a node by its name alone, and a type with a whole id. A handle counts before a display name, and that before the end of an id.
 *
 * @throws Failure where a list could not be read, for another reason than a denial.
 */
export async function findReference(text: string, places: Places, signal: AbortSignal): Promise<Found> {
  if (text === 'me') return { reference: places.me.subject }
  if (text === 'platform') return { reference: 'platform:main' }
  const colon = text.indexOf(':')
  const kind = colon < 0 ? 'node' : text.slice(0, colon)
  const name = text.slice(colon + 1)
  const type = kind === 'service' ? 'serviceaccount' : kind
  const read = LISTS[type]
  if (read === undefined || UUID.test(name)) return { reference: `${type}:${name}` }
  try {
    return oneOf({ kind, name }, type, await read(places, name, signal))
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 403) throw error
    return { fault: `You may not look a ${wordOf(kind)} up by its name here: give the type with its whole id.` }
  }
}

type ReadCandidates = (places: Places, name: string, signal: AbortSignal) => Promise<readonly Candidate[]>

const LISTS: Readonly<Record<string, ReadCandidates | undefined>> = {
  user: (places, name, signal) => readPrincipals(places, { kind: 'user', name }, signal),
  serviceaccount: (places, name, signal) => readPrincipals(places, { kind: 'service-identity', name }, signal),
  node: async ({ nodes }) => nodes,
  domain: async ({ domains }) => domains,
  project: ({ api, domain: { id } }, _, signal) =>
    allPages(PAGES_MAX, (cursor) => api.call('ListProjects', { id, limit: LIMIT, ...from(cursor) }, signal)),
  group: ({ api, domain: { id } }, _, signal) =>
    allPages(PAGES_MAX, (cursor) => api.call('ListGroups', { id, limit: LIMIT, ...from(cursor) }, signal)),
}

const from = (cursor: string | undefined): { readonly cursor?: string } => (cursor === undefined ? {} : { cursor })

/** The principal with the handle alone, else those of the Domain. Handles are compared by the server: the list shows them to auditors only. */
async function readPrincipals(
  { api, domain: { id } }: Places,
  { kind, name: handle }: { readonly kind: 'user' | 'service-identity'; readonly name: string },
  signal: AbortSignal,
): Promise<readonly Candidate[]> {
  const { items } = await api.call('ListIdentities', { id, kind, handle }, signal)
  if (items.length > 0) return items.map((item) => ({ ...item, handle }))
  return allPages(PAGES_MAX, (cursor) =>
    api.call('ListIdentities', { id, kind, limit: LIMIT, ...from(cursor) }, signal),
  )
}

function oneOf({ kind, name }: Asked, type: string, candidates: readonly Candidate[]): Found {
  const lower = name.toLowerCase()
  const tests: readonly ((candidate: Candidate) => boolean)[] = [
    ({ slug, handle }) => slug === name || handle === name,
    ({ display_name: shown }) => shown.toLowerCase() === lower,
    ({ id }) => PIECE.test(name) && id.replaceAll('-', '').endsWith(lower),
  ]
  const found = tests.map((test) => candidates.filter(test)).find(({ length }) => length > 0) ?? []
  const [only, another] = found
  if (only === undefined) return { fault: `There is no ${wordOf(kind)} “${name}” that you may read. ${FORMS}` }
  if (another !== undefined)
    return { fault: `“${name}” is the name of ${found.length} objects: give ${kind}: with the end of the id.` }
  return { reference: `${type}:${only.id}` }
}

const wordOf = (kind: string): string => (kind === 'service' || kind === 'serviceaccount' ? 'service identity' : kind)

const FORMS = 'Write me, user:NAME, service:NAME, node:NAME, project:NAME, or a type with a whole id.'
