import { ID } from '../../golden/fleet.ts'
import { refused, type SeenRequest, type StubAnswer, type StubRoutes } from '../cli/stub-server.ts'

const AT = { created_at: '2026-01-30T12:00:00.000Z', updated_at: '2026-01-31T12:00:00.000Z' }
const idOf = (number: number): string => `019c1a10-0000-7000-8000-00000000de0${number}`

/** Ids of the Definitions, by local key. */
export const DEFINITION = {
  env: idOf(1),
  ownEnv: idOf(2),
  tier: idOf(3),
  weight: idOf(4),
  on: idOf(5),
  rack: idOf(6),
  serial: idOf(7),
} as const

interface Defined {
  readonly id: string
  readonly scope: string
  readonly key: string
  readonly schema: Readonly<Record<string, unknown>>
  readonly description?: string
}

const definition = ({ id, scope, key, schema, description = '' }: Defined) => ({
  id,
  scope,
  local_key: key,
  qualified_key: `${scope}/${key}`,
  description,
  value_schema: schema,
  on_delete: 'block',
  immutable: false,
  inherit: false,
  kinds: [],
  system: scope === 'platform',
  ...AT,
})

const OWN = `domain:${ID.domain}`
const PROJECT = `project:${ID.project}`
const PROJECT_OF_DOMAIN = { id: ID.project, domain_id: ID.domain, slug: 'web', display_name: 'Web', ...AT }
const DEFINITIONS = [
  definition({ id: DEFINITION.env, scope: 'platform', key: 'env', schema: { type: 'string' }, description: 'Stage' }),
  definition({ id: DEFINITION.ownEnv, scope: OWN, key: 'env', schema: { type: 'string', enum: ['dev', 'prod'] } }),
  definition({ id: DEFINITION.tier, scope: OWN, key: 'tier', schema: { type: 'string', enum: ['api', 'web'] } }),
  definition({ id: DEFINITION.weight, scope: OWN, key: 'weight', schema: { type: 'integer', minimum: 0 } }),
  definition({ id: DEFINITION.on, scope: PROJECT, key: 'on', schema: { type: 'boolean' } }),
  {
    ...definition({ id: DEFINITION.rack, scope: PROJECT, key: 'rack', schema: { type: 'string' } }),
    kinds: ['project', 'network'],
  },
  {
    ...definition({ id: DEFINITION.serial, scope: PROJECT, key: 'serial', schema: { type: 'string' } }),
    immutable: true,
  },
]

const label = (key: string, value: unknown, more: Readonly<Record<string, unknown>> = {}) => ({
  kind: 'node',
  object_id: ID.web,
  qualified_key: key,
  definition_id: DEFINITIONS.find(({ qualified_key }) => qualified_key === key)?.id ?? null,
  value,
  assigned_by: `serviceaccount:${ID.me}`,
  ...AT,
  ...more,
})

const LABELS = [label(`${OWN}/env`, 'prod'), label(`${OWN}/weight`, 3), label(`${OWN}/gone`, 'x')]
const INHERITED = label('platform/env', 'prod', { kind: 'domain', object_id: ID.domain })

const node = (project: string | null) => ({
  id: ID.web,
  name: 'web-1',
  domain_id: ID.domain,
  project_id: project,
  labels: {},
})

function listed({ query }: SeenRequest): StubAnswer {
  const scope = query.get('scope') ?? ''
  const seen = query.get('include') === 'enclosing' ? [scope, OWN, 'platform'] : [scope]
  return { body: { items: DEFINITIONS.filter((one) => seen.includes(one.scope)), next_cursor: null } }
}

/** An answer to a creation, or the refusal of a key that is taken. */
function defined({ body }: SeenRequest): StubAnswer {
  const { scope, local_key: key, value_schema: schema } = body as Readonly<Record<string, string>>
  const isTaken = DEFINITIONS.some((one) => one.qualified_key === `${scope}/${key}`)
  if (isTaken)
    return refused(409, 'definition_conflict', 'The scope already has a label Definition with this local key.')
  const made = definition({ id: idOf(9), scope: String(scope), key: String(key), schema: schema as never })
  return { status: 201, body: { ...made, ...(body as object) } }
}

const UNKNOWN = {
  offset: 0,
  length: 3,
  code: 'unknown_key',
  message: 'No label evn is defined here. Did you mean env?',
  expected: ['env'],
}

function previewed({ body }: SeenRequest): StubAnswer {
  const { selector } = body as { readonly selector: string }
  if (selector.startsWith('evn'))
    return { body: { canonical: null, requirements: [], errors: [UNKNOWN], counts: {}, complete: true, sample: [] } }
  const sample = [{ kind: 'node', id: ID.web, display_name: 'web-1', domain_id: ID.domain, project_id: null }]
  return {
    body: {
      canonical: `${OWN}/env=prod`,
      requirements: [],
      errors: [],
      counts: { node: 23, project: 1 },
      complete: true,
      sample,
    },
  }
}

/** Three objects in pages of one, the second of which is empty. */
function searched({ body }: SeenRequest): StubAnswer {
  const { selector, cursor } = body as { readonly selector: string; readonly cursor?: string }
  if (selector.startsWith('evn')) {
    const { status, headers, body: document } = refused(400, 'invalid_selector', 'The selector is malformed.')
    return { status: status ?? 400, headers: headers ?? {}, body: { ...(document as object), errors: [UNKNOWN] } }
  }
  const found = (id: string, name: string) => ({
    kind: 'node',
    id,
    display_name: name,
    domain_id: ID.domain,
    project_id: null,
    labels: { [`${OWN}/env`]: 'prod' },
  })
  if (cursor === 'c1') return { body: { items: [], next_cursor: 'c2' } }
  if (cursor === 'c2') return { body: { items: [found(ID.db, 'db-1')], next_cursor: null } }
  return { body: { items: [found(ID.web, 'web-1')], next_cursor: 'c1' } }
}

/** Labels of a Domain with a Project, and of the node `web-1`. */
export const LABELLED: StubRoutes = {
  'GET /v1/label-definitions': listed,
  'POST /v1/label-definitions': defined,
  ...Object.fromEntries(
    DEFINITIONS.flatMap((one) => [
      [`GET /v1/label-definitions/${one.id}`, { body: one }],
      [`PATCH /v1/label-definitions/${one.id}`, ({ body }: SeenRequest) => ({ body: { ...one, ...(body as object) } })],
      [`DELETE /v1/label-definitions/${one.id}`, { status: 204 }],
    ]),
  ),
  [`GET /v1/projects/${ID.project}`]: { body: PROJECT_OF_DOMAIN },
  [`GET /v1/nodes/${ID.web}`]: { body: node(ID.project) },
  [`GET /v1/objects/node/${ID.web}/labels`]: ({ query }) => ({
    body: { items: query.get('view') === 'effective' ? [...LABELS.slice(0, 2), INHERITED] : LABELS },
  }),
  [`PUT /v1/objects/node/${ID.web}/labels`]: ({ body }) => {
    const { qualified_key: key, value } = body as { readonly qualified_key: string; readonly value: unknown }
    if (value === 'dev') return refused(422, 'aggregate_invariant', 'The label breaks a rule of labels.')
    return { body: label(key, value) }
  },
  [`DELETE /v1/objects/node/${ID.web}/labels`]: { status: 204 },
  [`GET /v1/domains/${ID.domain}/labels`]: {
    body: { items: LABELS.filter(({ definition_id }) => definition_id !== null), next_cursor: null },
  },
  'POST /v1/labels/selectors/preview': previewed,
  [`POST /v1/domains/${ID.domain}/labels/selectors/preview`]: previewed,
  'POST /v1/objects/search': searched,
}
