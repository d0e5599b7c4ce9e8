// A Domain of many nodes for the benchmark of policies. Those of one Project are registered, with keys to hold streams; the others
// are rows, as registrations and the relay leave them. The labels of all are rows.
import { sql } from 'kysely'
import { openPglite } from '../../../dist/server/adapters/pglite/database.js'
import { openPostgres } from '../../../dist/server/adapters/postgres/database.js'
import { callApi, registerNodes } from './servers.mjs'

export const POLICIES = 100
const ROLES = 50
const ENVS = 5
const ZONES = 4
/** Registrations at once: those of one Domain wait for each other. */
const REGISTERING = 4

/** Creates the Project and its nodes, and the Definitions. */
export async function createDomain(server, concerned) {
  const { domain_id: id } = await callApi(server, 'GET', '/v1/auth/whoami')
  const body = { slug: 'bench', display_name: 'Bench' }
  const project = await callApi(server, 'POST', `/v1/domains/${id}/projects`, { body })
  const definitions = {}
  for (const key of ['role', 'env', 'zone', 'team']) {
    const definition = {
      scope: `domain:${id}`,
      local_key: key,
      value_schema: { type: 'string' },
      inherit: key === 'team',
    }
    definitions[key] = await callApi(server, 'POST', '/v1/label-definitions', { body: definition })
  }
  const nodes = await registerNodes(server, concerned, { atOnce: REGISTERING, projectId: project.id })
  return { id, projectId: project.id, team: definitions.team.qualified_key, definitions, nodes }
}

/** Adds the other nodes and all labels to the datastore, which no server uses meanwhile. */
export async function fillDomain(store, { url, dataDir }, { id, definitions, nodes, count }) {
  const warn = () => undefined
  const datastore = store === 'postgres' ? await openPostgres({ url, warn }) : await openPglite({ dataDir, warn })
  try {
    const db = datastore.pool('bulk')
    for (const statement of nodeStatements(id, { first: nodes.length, count })) await statement.execute(db)
    for (const statement of labelStatements(id, definitions)) await statement.execute(db)
    await sql`analyze`.execute(db)
  } finally {
    await datastore.close()
  }
}

const nodeStatements = (domainId, { first, count }) => [
  sql`insert into nodes (id, domain_id, name, kind, public_key, mesh_address, psk_sealed, psk_issued_at, labels, ephemeral,
      created_at, updated_at)
    select gen_random_uuid(), ${domainId}, 'bench-' || n, 'worker', decode(lpad(to_hex(n), 64, '0'), 'hex'),
      '100.100.0.0'::inet + n, '', 0, '{}', false, now(), now()
    from generate_series(${first}::integer, ${count - 1}::integer) as n`,
  sql`insert into node_heartbeats (node_id, created_at) select id, now() from nodes on conflict do nothing`,
  sql`insert into node_lanes (node_id, domain_id, hinted_seq, hinted_at)
    select id, domain_id, (select seq from outbox_head), to_timestamp(0) from nodes on conflict do nothing`,
]

/** The value of each key for the node number `n`. */
const VALUES = [
  ['role', sql`'r' || (n % ${sql.lit(ROLES)})`],
  ['env', sql`'e' || (n / ${sql.lit(ROLES)} % ${sql.lit(ENVS)})`],
  ['zone', sql`'z' || (n / ${sql.lit(ROLES * ENVS)} % ${sql.lit(ZONES)})`],
]

const labelStatements = (domainId, definitions) =>
  VALUES.map(([key, value]) => {
    const { id, qualified_key: qualifiedKey } = definitions[key]
    return sql`
      insert into label_assignments (
        kind, object_id, qualified_key, definition_id, value, value_type, assigned_by, created_at, updated_at
      )
      select 'node', id, ${qualifiedKey}, ${id}, ${value}, 'string', 'user:bench', now(), now()
      from (select id, substr(name, 7)::integer as n from nodes where domain_id = ${domainId}) as node`
  })

/** Five peer selectors for each policy, all different. */
function peersOf(index) {
  const role = `role=r${index % ROLES}`
  if (index < ROLES) return Array.from({ length: ENVS }, (_, env) => `${role},env=e${env}`)
  return [role, ...Array.from({ length: ZONES }, (_, zone) => `${role},zone=z${zone}`)]
}

/** The groups of all policies. */
export const GROUPS = new Set(Array.from({ length: POLICIES }, (_, index) => peersOf(index)).flat()).size

/** The policy of that number. The last one matches the nodes of the Project by its label. */
export function policyOf(index) {
  const rules = peersOf(index).map((peers, place) => ({
    direction: 'ingress',
    peers,
    protocol: 'tcp',
    ports: [String(1_000 + index * 10 + place)],
  }))
  const role = (index + 1) % ROLES
  const expected = { from: `role=r${index % ROLES},env=e0`, to: `role=r${role},env=e0`, protocol: 'tcp' }
  const tests = index < ROLES ? [{ ...expected, port: 1_000 + index * 10, expect: 'allowed' }] : []
  return { selector: index === POLICIES - 1 ? 'team=a' : `role=r${role}`, rules, tests }
}
