import type { Surface } from './operation.ts'

type Json = Readonly<Record<string, unknown>>

const FLEET = [
  'join-tokens',
  'nodes',
  'observations',
  'node-state',
  'events',
  'domain-events',
  'executions',
  'mediated-sessions',
  'keys',
  'mesh',
  'labels',
  'object-search',
  'policies',
  'bridge',
  'node-secrets',
  'artifacts',
  'rollouts',
  'integrity',
  'capacity',
  'webhooks',
  'signing-keys',
]

/** Chapters of the document, in reading order for a newcomer. */
const CHAPTERS: readonly { readonly name: string; readonly surfaces: readonly string[] }[] = [
  { name: 'Signing in', surfaces: ['auth', 'tokens', 'sessions', 'factors', 'device', 'service-tokens', 'idp'] },
  { name: 'Tenancy', surfaces: ['domains', 'projects', 'resources', 'secrets'] },
  {
    name: 'Access',
    surfaces: [
      'authz',
      'relation-tuples',
      'grants',
      'groups',
      'identities',
      'admin-tokens',
      'approvals',
      'approval-policies',
    ],
  },
  {
    name: 'Catalogue',
    surfaces: [
      'clouds',
      'provider-bundles',
      'cloud-credentials',
      'cloud-assignments',
      'credential-assignments',
      'secrets',
    ],
  },
  { name: 'Fleet', surfaces: FLEET },
  { name: 'Records', surfaces: ['audit'] },
  { name: 'This API', surfaces: ['meta'] },
]

/** The chapter of surfaces that no other chapter names: renderers omit surfaces without a chapter. */
const OTHERS = 'More'

/** Display names that do not follow from the surface's name. */
const DISPLAY_NAMES: Readonly<Record<string, string>> = {
  'admin-tokens': 'Tokens of others',
  authz: 'Permission checks',
  events: 'Events of nodes',
  artifacts: 'Releases of the agent',
  capacity: 'Capacity of Domains',
  integrity: 'Integrity violations',
  factors: 'Your second factors',
  idp: 'Identity providers',
  keys: 'Keys of the mesh',
  'node-secrets': 'Secrets of nodes',
  meta: 'Contract and documentation',
  observations: 'Reports of nodes',
  'node-state': 'State of nodes',
  tokens: 'Your tokens',
}

/** One tag per surface. `x-displayName` is for people; the name is the one used in scopes. */
export function tagsOf(surfaces: readonly Surface[]): readonly Json[] {
  return surfaces.map(({ name, summary }) => ({ name, 'x-displayName': displayNameOf(name), description: summary }))
}

/** The chapters of the surfaces, each surface in exactly one. */
export function tagGroupsOf(surfaces: readonly Surface[]): readonly Json[] {
  const names = surfaces.map(({ name }) => name)
  const placed = new Set(CHAPTERS.flatMap((chapter) => chapter.surfaces))
  const others = { name: OTHERS, surfaces: names.filter((name) => !placed.has(name)) }
  return [...CHAPTERS, others]
    .map((chapter) => ({ name: chapter.name, tags: chapter.surfaces.filter((name) => names.includes(name)) }))
    .filter(({ tags }) => tags.length > 0)
}

function displayNameOf(name: string): string {
  const words = name.replaceAll('-', ' ')
  return DISPLAY_NAMES[name] ?? `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}
