import { sql } from 'kysely'
import { openPglite } from '../../../dist/server/adapters/pglite/database.js'
import { openPostgres } from '../../../dist/server/adapters/postgres/database.js'

export const DOMAINS = 20
export const PROJECTS = 500
/** With Domains and Projects these are 100,000 objects, and with their five labels each 500,000 labels. */
export const NODES = 99_480

const id = (group, number) =>
  sql`(${sql.lit(`0190000${group}-0000-7000-8000-`)} || lpad((${number})::text, 12, '0'))::uuid`

/** Values that are spread independently of each other over the numbers of nodes. */
const spread = (salt, values) => sql`(hashtextextended(n::text, ${sql.lit(salt)}) & 1048575) % ${sql.lit(values)}`

/** Keys, with the value of each node as a statement over its number `n`. */
const LABELS = [
  ['region', sql`'r' || (${spread(1, 8)})`],
  ['tier', sql`(array['web', 'api', 'db', 'cache', 'batch'])[1 + ${spread(2, 5)}]`],
  ['team', sql`'t' || (${spread(3, 50)})`],
  ['app', sql`'a' || (${spread(4, 500)})`],
  ['size', sql`(${spread(5, 100)})::text`],
]

const KEYS = ['env', ...LABELS.map(([key]) => key), 'legacy']

export const definitionId = (key) => definitionIdAt(KEYS.indexOf(key))

function definitionIdAt(number) {
  return `01900007-0000-7000-8000-${String(number).padStart(12, '0')}`
}

/**
 * Fills the datastore of a server that has been started once with Domains, Projects, nodes, the tuples of their places, and labels.
 * `more` are statements that are executed afterwards.
 */
export async function fillStore(store, { url, dataDir, more = [] }) {
  const warn = () => undefined
  const datastore = store === 'postgres' ? await openPostgres({ url, warn }) : await openPglite({ dataDir, warn })
  try {
    for (const statement of [...STATEMENTS, ...more, sql`vacuum analyze`])
      await statement.execute(datastore.pool('bulk'))
  } finally {
    await datastore.close()
  }
}

const tuples = (subject, relation, resource, rows) => sql`
  insert into relation_tuples (id, subject_type, subject_id, subject_relation, relation, resource_type, resource_id,
    caveat_name, caveat_fields, domain_id, project_id, structural, revision, created_at)
  select gen_random_uuid(), ${subject}, '', ${relation}, ${resource}, '', '[]', null, null, true,
    (select revision from authz_head), now() from ${rows}`

const label = ({ kind, objectId, key, value, rows }) => sql`
  insert into label_assignments (kind, object_id, qualified_key, definition_id, value, value_type, number, assigned_by,
    created_at, updated_at)
  select ${kind}, ${objectId}, ${sql.lit(`platform/${key}`)}, ${id(7, sql.lit(KEYS.indexOf(key)))}, ${value},
    ${sql.lit(key === 'size' ? 'integer' : 'string')}, ${key === 'size' ? sql`(${value})::bigint` : sql`null`}, 'user:bench',
    now(), now() from ${rows}`

const numbers = (count) => sql`generate_series(0, ${sql.lit(count - 1)}) as n`
const domainOfProject = sql`n % ${sql.lit(DOMAINS)}`
const projectOfNode = sql`n % ${sql.lit(PROJECTS)}`
const domainOfNode = sql`(n % ${sql.lit(PROJECTS)}) % ${sql.lit(DOMAINS)}`

const STATEMENTS = [
  sql`update authz_head set revision = revision + 1`,
  // The index of tuples is read from the table by the next start.
  sql`delete from authz_index_marks`,
  sql`insert into domains (id, slug, display_name, mesh_cidr, endpoint_ttl_seconds, trusted_networks, business_hours,
      strong_acr, created_at, updated_at)
    select ${id(1, sql`n`)}, 'bench-' || n, 'Bench ' || n, '100.64.0.0/10', 300, '[]', 'null', '[]', now(), now()
    from ${numbers(DOMAINS)}`,
  sql`insert into projects (id, domain_id, slug, display_name, created_at, updated_at)
    select ${id(2, sql`n`)}, ${id(1, domainOfProject)}, 'bench-' || n, 'Bench ' || n, now(), now() from ${numbers(PROJECTS)}`,
  sql`insert into nodes (id, domain_id, project_id, name, kind, public_key, mesh_address, psk_sealed, psk_issued_at, labels,
      ephemeral, created_at, updated_at)
    select ${id(3, sql`n`)}, ${id(1, domainOfNode)}, ${id(2, projectOfNode)}, 'bench-' || n, 'worker',
      sha256(n::text::bytea), '100.64.0.0'::inet + n, '\\x00', 0, '{}', false, now(), now() from ${numbers(NODES)}`,
  tuples(sql`'platform', 'main'`, sql`'platform'`, sql`'domain', ${id(1, sql`n`)}::text`, numbers(DOMAINS)),
  tuples(
    sql`'domain', ${id(1, domainOfProject)}::text`,
    sql`'domain'`,
    sql`'project', ${id(2, sql`n`)}::text`,
    numbers(PROJECTS),
  ),
  tuples(
    sql`'domain', ${id(1, domainOfNode)}::text`,
    sql`'domain'`,
    sql`'node', ${id(3, sql`n`)}::text`,
    numbers(NODES),
  ),
  tuples(
    sql`'project', ${id(2, projectOfNode)}::text`,
    sql`'project'`,
    sql`'node', ${id(3, sql`n`)}::text`,
    numbers(NODES),
  ),
  sql`delete from label_definitions`,
  sql`insert into label_definitions (id, scope_kind, domain_id, project_id, local_key, qualified_key, description,
      value_schema, on_delete, immutable, inherit, kinds, system, granted, created_at, updated_at)
    select ${id(7, sql`(n - 1)`)}, 'platform', null, null, key, 'platform/' || key, '',
      case key when 'size' then '{"type":"integer"}'::jsonb else '{"type":"string"}'::jsonb end, 'block', false,
      key = 'env', '{}', false, true, now(), now()
    from unnest(array[${sql.join(KEYS.map((key) => sql.lit(key)))}]) with ordinality as each (key, n)`,
  tuples(
    sql`'platform', 'main'`,
    sql`'platform'`,
    sql`'labeldefinition', ${id(7, sql`n`)}::text`,
    numbers(KEYS.length),
  ),
  sql`alter table label_assignments disable trigger keep_node_labels_added`,
  label({
    kind: sql`'project'`,
    objectId: id(2, sql`n`),
    key: 'env',
    value: sql`(array['prod', 'staging', 'dev'])[1 + n % 3]`,
    rows: numbers(PROJECTS),
  }),
  label({
    kind: sql`'node'`,
    objectId: id(3, sql`n`),
    key: 'env',
    value: sql`'canary'`,
    rows: sql`generate_series(0, ${sql.lit(NODES - 1)}, 50) as n`,
  }),
  ...LABELS.map(([key, value]) =>
    label({ kind: sql`'node'`, objectId: id(3, sql`n`), key, value, rows: numbers(NODES) }),
  ),
  sql`alter table label_assignments enable trigger keep_node_labels_added`,
]

/** Statements after which a service identity may see so many nodes, spread over all of them, by a role on each. */
export const viewerOf = (principalId, count) => [
  tuples(
    sql`'serviceaccount', ${sql.lit(principalId)}`,
    sql`'viewer'`,
    sql`'node', ${id(3, sql`n * ${sql.lit(Math.floor(NODES / count))}`)}::text`,
    numbers(count),
  ),
]

/** Statements after which a service identity may see the nodes of the first so many Domains. */
export const viewerOfDomains = (principalId, count) => [
  tuples(
    sql`'serviceaccount', ${sql.lit(principalId)}`,
    sql`'viewer'`,
    sql`'domain', ${id(1, sql`n`)}::text`,
    numbers(count),
  ),
]

export const RESOURCES = 100_000

/** Definitions whose labels are deleted with them, of every node and of every resource. */
export const CASCADES = { node: definitionIdAt(100), resource: definitionIdAt(101) }

/**
 * Statements after which every node and as many resources have a label of `CASCADES`, and nodes have their labels in their rows, as
 * the server would have written them.
 */
export const WITH_CASCADES = [
  sql`insert into resources (id, domain_id, project_id, kind, slug, display_name, created_at, updated_at)
    select ${id(4, sql`n`)}, ${id(1, domainOfNode)}, ${id(2, projectOfNode)}, 'workload', 'bench-' || n, 'Bench', now(), now()
    from ${numbers(RESOURCES)}`,
  sql`insert into label_definitions (id, scope_kind, domain_id, project_id, local_key, qualified_key, description,
      value_schema, on_delete, immutable, inherit, kinds, system, granted, created_at, updated_at)
    select ${id(7, sql`n`)}, 'platform', null, null, 'cascade-' || n, 'platform/cascade-' || n, '', '{"type":"string"}'::jsonb,
      'cascade', false, false, '{}', false, true, now(), now() from generate_series(100, 101) as n`,
  tuples(
    sql`'platform', 'main'`,
    sql`'platform'`,
    sql`'labeldefinition', ${id(7, sql`n`)}::text`,
    sql`generate_series(100, 101) as n`,
  ),
  sql`alter table label_assignments disable trigger keep_node_labels_added`,
  ...[
    ['node', 3, NODES, 100],
    ['resource', 4, RESOURCES, 101],
  ].map(
    ([kind, group, count, definition]) => sql`
    insert into label_assignments (kind, object_id, qualified_key, definition_id, value, value_type, number, assigned_by,
      created_at, updated_at)
    select ${sql.lit(kind)}, ${id(group, sql`n`)}, ${sql.lit(`platform/cascade-${definition}`)},
      ${id(7, sql.lit(definition))}, 'v', 'string', null, 'user:bench', now(), now() from ${numbers(count)}`,
  ),
  sql`alter table label_assignments enable trigger keep_node_labels_added`,
  sql`update nodes set labels = kept.labels from (
      select object_id, jsonb_object_agg(qualified_key, value) as labels from label_assignments where kind = 'node'
      group by object_id) as kept where nodes.id = kept.object_id`,
]
