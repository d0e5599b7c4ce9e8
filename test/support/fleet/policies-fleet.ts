import { ID } from '../../golden/fleet.ts'
import { refused, type SeenRequest, type StubAnswer, type StubRoutes } from '../cli/stub-server.ts'

const AT = { created_at: '2026-01-30T12:00:00.000Z', updated_at: '2026-01-31T12:00:00.000Z' }

/** Ids of the policy `db-in` and of its revisions. */
export const POLICY = '019c1a10-0000-7000-8000-0000000b0001'
export const REVISION = ['019c1a10-0000-7000-8000-0000000ea001', '019c1a10-0000-7000-8000-0000000ea002'] as const

const OWN = `domain:${ID.domain}`
const RULE = { direction: 'ingress', peers: `${OWN}/tier=api`, protocol: 'tcp', ports: ['5432'] }
const TEST = { from: `${OWN}/tier=web`, to: `${OWN}/tier=db`, protocol: 'tcp', port: 5432, expect: 'denied' }

const DB_IN = {
  id: POLICY,
  domain_id: ID.domain,
  slug: 'db-in',
  display_name: 'Into the database',
  selector: `${OWN}/tier=db`,
  isolates: ['ingress'],
  rules: [RULE],
  tests: [TEST],
  revision_id: REVISION[1],
  revision: 2,
  fingerprint: 'LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=',
  matched_count: 1,
  ...AT,
}

/** The policy as `policies show` answers it. */
export const STORED_POLICY = DB_IN

const revision = (number: number) => ({
  revision_id: REVISION[number - 1],
  revision: number,
  display_name: DB_IN.display_name,
  selector: DB_IN.selector,
  isolates: ['ingress'],
  rules: [RULE],
  tests: [],
  fingerprint: DB_IN.fingerprint,
  created_by: `serviceaccount:${ID.me}`,
  created_at: AT.created_at,
})

/** A problem with members of its own. */
export function refusedWith(status: number, code: string, more: Readonly<Record<string, unknown>>): StubAnswer {
  const answer = refused(status, code, `The server says ${code}.`)
  return { ...answer, body: { ...(answer.body as object), ...more } }
}

/** A change, refused where it was made from another revision. */
function changed({ headers, body }: SeenRequest, more: object = {}): StubAnswer {
  if (headers['if-match'] !== `"${REVISION[1]}"`)
    return refused(412, 'policy_stale', 'Somebody else changed the policy in the meantime. Nothing was changed.')
  return { body: { ...DB_IN, ...(body as object), revision: 3, ...more } }
}

const PAIR = { from_node_id: ID.web, from: 'web-1', to_node_id: ID.db, to: 'db-1' }
const NONE = { count: 0, sample: [] }
const FAILURE = {
  policy_id: POLICY,
  policy: 'db-in',
  test: 0,
  from_node_id: ID.web,
  from: 'web-1',
  to_node_id: ID.db,
  to: 'db-1',
  expect: 'denied',
  egress: { isolated: false, allowed: true },
  ingress: { isolated: true, allowed: true, policy_id: POLICY, policy: 'open', rule: 1 },
}

/** Policies of these slugs change nothing, break a test, or have an unknown key. */
function previewed({ body }: SeenRequest): StubAnswer {
  const { policies } = body as { readonly policies: readonly { readonly slug: string }[] }
  const [{ slug } = { slug: '' }] = policies
  const matched = { slug, matched_count: 1, sample: [{ node_id: ID.db, name: 'db-1' }], fingerprint: DB_IN.fingerprint }
  const answer = { policies: [matched], gained: NONE, lost: NONE, failures: [], vacuous: [] }
  if (slug === 'unknown') return { body: { ...answer, policies: [], selector_errors: UNKNOWN } }
  if (slug === 'db-in') return { body: answer }
  const vacuous = [{ policy: slug, test: 1, selector: 'platform/env=prod' }]
  if (slug === 'open')
    return { body: { ...answer, gained: { count: 1, sample: [PAIR] }, failures: [FAILURE], vacuous } }
  return { body: { ...answer, lost: { count: 12, sample: [PAIR] } } }
}

const UNKNOWN = [
  {
    pointer: '/policies/0/rules/0/peers',
    errors: [{ offset: 0, length: 4, code: 'unknown_key', message: 'No label teir is defined here.', expected: [] }],
  },
]

function reached({ query }: SeenRequest): StubAnswer {
  const isDatabase = query.get('to') === ID.db && query.get('from') === ID.web
  const port = query.get('port')
  return {
    body: {
      from: query.get('from'),
      to: query.get('to'),
      protocol: query.get('protocol'),
      port: port === null ? null : Number(port),
      allowed: !isDatabase,
      egress: { isolated: false, allowed: true },
      ingress: isDatabase
        ? { isolated: true, allowed: false, policy_id: POLICY, policy: 'db-in' }
        : { isolated: true, allowed: true, policy_id: POLICY, policy: 'web-in', rule: 0 },
    },
  }
}

const node = (id: string, name: string) => ({ id, name, display_name: name, domain_id: ID.domain })

/** A Domain with the policy `db-in`. */
export const POLICED: StubRoutes = {
  [`GET /v1/domains/${ID.domain}/policies`]: { body: { items: [DB_IN], next_cursor: null } },
  [`POST /v1/domains/${ID.domain}/policies`]: ({ body }) => {
    const { slug } = body as { readonly slug: string }
    if (slug === 'db-in') return refused(409, 'slug_conflict', 'The slug is taken.')
    const made = { ...DB_IN, ...(body as object), revision: 1 }
    return { status: 201, body: { ...made, vacuous_tests: [{ policy_id: POLICY, test: 0, selector: 'platform/x' }] } }
  },
  [`GET /v1/policies/${POLICY}`]: { body: DB_IN },
  [`PATCH /v1/policies/${POLICY}`]: (request) => changed(request),
  [`DELETE /v1/policies/${POLICY}`]: (request) => {
    const { status = 200, ...answer } = changed(request)
    return status === 200 ? { status: 204 } : { status, ...answer }
  },
  [`GET /v1/policies/${POLICY}/revisions`]: { body: { items: [revision(2), revision(1)], next_cursor: null } },
  [`POST /v1/policies/${POLICY}/rollback`]: (request) => changed({ ...request, body: {} }),
  [`POST /v1/domains/${ID.domain}/policies/preview`]: previewed,
  [`GET /v1/domains/${ID.domain}/reachability-check`]: reached,
  [`GET /v1/domains/${ID.domain}/policies/graph`]: {
    body: {
      groups: [
        { group: 0, policies: [], node_count: 30, sample: [{ node_id: ID.web, name: 'web-1' }] },
        { group: 1, policies: ['db-in', 'ssh'], node_count: 1, sample: [{ node_id: ID.db, name: 'db "1"' }] },
      ],
      edges: [
        { from: 0, to: 0, flows: ['any'] },
        { from: 0, to: 1, flows: ['icmp', 'tcp 22,5432'] },
      ],
      omitted_groups: 1,
    },
  },
  [`GET /v1/nodes/${ID.web}`]: { body: node(ID.web, 'web-1') },
  [`GET /v1/nodes/${ID.db}`]: { body: node(ID.db, 'db-1') },
}

/** Policy files as people write them, by slug. */
export const POLICY_FILES = {
  'db-in.yaml': `slug: db-in
selector: tier=db
rules:
  - { direction: ingress, peers: tier=api, protocol: tcp, ports: ['5432'] }
tests:
  - { from: tier=web, to: tier=db, protocol: tcp, port: 5432, expect: denied }
`,
  'open.yaml': `slug: open
selector: '*'
rules:
  - { direction: ingress, peers: '*', protocol: any }
`,
  'deny.yaml': `slug: default-deny
selector: '*'
isolates: [ingress]
rules: []
`,
  'unknown.yaml': `slug: unknown
selector: tier=db
rules:
  - { direction: ingress, peers: teir=api, protocol: tcp }
`,
  'syntax.yaml': `slug: syntax
selector: tier=db,
rules:
  - { direction: ingress, peers: tier ~ api, protocol: tcp }
`,
  'ports.yaml': `slug: ports
selector: tier=db
rules:
  - { direction: ingress, peers: tier=api, protocol: tcp, ports: ['70000'], cidrs: [10.0.0.1/8] }
`,
} as const
