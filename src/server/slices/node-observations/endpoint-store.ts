import { sql, type RawBuilder, type Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { Tables } from '../../ports/tables/tables.ts'
import type { OwnEndpoint, PeerEndpoint } from './peer-endpoint.ts'

/** What a node reports of itself. */
export interface OwnReport extends OwnEndpoint {
  /** Other addresses at which a peer may reach it, `host:port`, each once, in the order of the node. */
  readonly candidates: readonly string[]
}

/** An endpoint as a node has reported it. */
export interface EndpointReport extends OwnReport {
  readonly nodeId: string
}

/** The stored endpoint of a node. */
export interface StoredEndpoint {
  readonly nodeId: string
  /** Its own report, fresh or not; undefined where only its peers have reported one. */
  readonly own: OwnReport | undefined
  /** What its peers get, or got until it became stale. */
  readonly shown: PeerEndpoint
  readonly isStale: boolean
}

/** What is to be stored as the endpoint of a node: fresh. */
export type FreshEndpoint = Pick<StoredEndpoint, 'nodeId' | 'own' | 'shown'>

/** What holds for endpoints in a node's Domain. */
export interface EndpointTerms {
  readonly ttlMs: number
  /** No endpoint of the underlay is inside. */
  readonly meshCidr: string
}

/** Reads it of each node; a deleted node has none. */
export async function findTerms(db: Db, nodeIds: readonly string[]): Promise<Map<string, EndpointTerms>> {
  const rows = await db
    .selectFrom('nodes')
    .innerJoin('domains', 'domains.id', 'nodes.domain_id')
    .select(['nodes.id', 'domains.endpoint_ttl_seconds', 'domains.mesh_cidr'])
    .where('nodes.id', '=', sql<string>`any(${nodeIds}::uuid[])`)
    .execute()
  return new Map(
    rows.map(({ id, endpoint_ttl_seconds, mesh_cidr: meshCidr }) => {
      return [id, { ttlMs: endpoint_ttl_seconds * 1000, meshCidr }]
    }),
  )
}

/**
 * Stores those of the reports that only renew an endpoint that is known and fresh, and so change nothing that peers get: they
 * need no announcement. At most one of each node. Returns the ids of their nodes. Rows are locked in the order of their ids.
 */
export async function refreshEndpoints(db: Db, reports: readonly EndpointReport[]): Promise<Set<string>> {
  const isShown = sql`e.last_endpoint = sent.host and e.last_endpoint_port = sent.port`
  const isGuess = sql`e.nat_type = 'unknown' and sent.nat_type = 'unknown'`
  const isSame = sql`e.own_endpoint = sent.host and e.own_endpoint_port = sent.port
    and e.last_endpoint_stale_at is null and e.own_reported_at < sent.reported_at and e.candidates = sent.candidates
    and ((${isGuess}) or (${isShown} and e.nat_type <> 'unknown' and sent.nat_type <> 'unknown'))`
  const { rows } = await sql<{ node_id: string }>`
    with sent as (${sentRows(reports)}),
    held as (
      select e.node_id from node_endpoints as e join sent on sent.node_id = e.node_id where ${isSame}
      order by e.node_id for update of e
    )
    update node_endpoints as e set nat_type = sent.nat_type, own_reported_at = sent.reported_at,
      last_endpoint_reported_at = case
        when ${isShown} then greatest(e.last_endpoint_reported_at, sent.reported_at)
        else e.last_endpoint_reported_at end
    from sent join held on held.node_id = sent.node_id
    where e.node_id = sent.node_id and ${isSame}
    returning e.node_id`.execute(db)
  return new Set(rows.map(({ node_id }) => node_id))
}

/**
 * Locks the rows of the nodes that still exist, in the order of their ids, so that their reports are serialized and they
 * are not deleted until the transaction ends. Locked before any row that refers to a node, as a deregistration does. Returns their
 * ids.
 */
export async function lockNodes(tx: Db, nodeIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from nodes where id = any(${nodeIds}::uuid[]) order by id for no key update`.execute(tx)
  return new Set(rows.map(({ id }) => id))
}

/** Reads and locks the stored endpoints of nodes, in the order of their ids. */
export async function lockEndpoints(tx: Db, nodeIds: readonly string[]): Promise<Map<string, StoredEndpoint>> {
  const rows = await tx
    .selectFrom('node_endpoints')
    .selectAll()
    .where('node_id', '=', sql<string>`any(${nodeIds}::uuid[])`)
    .orderBy('node_id')
    .forUpdate()
    .execute()
  return new Map(rows.map((row) => [row.node_id, toStored(row)]))
}

function toStored(row: Selectable<Tables['node_endpoints']>): StoredEndpoint {
  const { own_endpoint: host, own_endpoint_port: port, own_reported_at: reportedAt, nat_type: natType } = row
  const hasOwn = host !== null && port !== null && reportedAt !== null && natType !== null
  return {
    nodeId: row.node_id,
    own: hasOwn ? { host, port, natType, reportedAtMs: reportedAt.getTime(), candidates: row.candidates } : undefined,
    shown: {
      host: row.last_endpoint,
      port: row.last_endpoint_port,
      confirmedAtMs: row.last_endpoint_reported_at.getTime(),
    },
    isStale: row.last_endpoint_stale_at !== null,
  }
}

/** Stores endpoints of nodes, whose rows the caller has locked, as fresh; replaces the known ones. */
export async function storeEndpoints(tx: Db, endpoints: readonly FreshEndpoint[]): Promise<void> {
  const column = (valueOf: (endpoint: FreshEndpoint) => string | number | null) => endpoints.map(valueOf)
  const instant = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString())
  await sql`
    insert into node_endpoints (node_id, domain_id, last_endpoint, last_endpoint_port, last_endpoint_reported_at,
      nat_type, own_endpoint, own_endpoint_port, own_reported_at, candidates)
    select n.id, n.domain_id, given.host, given.port, given.confirmed_at,
      given.nat_type, given.own_host, given.own_port, given.reported_at, ${listOf(sql`given.candidates`)}
    from unnest(
      ${column(({ nodeId }) => nodeId)}::uuid[],
      ${column(({ shown }) => shown.host)}::text[],
      ${column(({ shown }) => shown.port)}::integer[],
      ${column(({ shown }) => instant(shown.confirmedAtMs))}::timestamptz[],
      ${column(({ own }) => own?.natType ?? null)}::text[],
      ${column(({ own }) => own?.host ?? null)}::text[],
      ${column(({ own }) => own?.port ?? null)}::integer[],
      ${column(({ own }) => instant(own?.reportedAtMs))}::timestamptz[],
      ${column(({ own }) => joined(own?.candidates))}::text[]
    ) as given (node_id, host, port, confirmed_at, nat_type, own_host, own_port, reported_at, candidates)
    join nodes as n on n.id = given.node_id
    on conflict (node_id) do update set
      last_endpoint = excluded.last_endpoint,
      last_endpoint_port = excluded.last_endpoint_port,
      last_endpoint_reported_at = excluded.last_endpoint_reported_at,
      last_endpoint_stale_at = null,
      nat_type = excluded.nat_type,
      own_endpoint = excluded.own_endpoint,
      own_endpoint_port = excluded.own_endpoint_port,
      own_reported_at = excluded.own_reported_at,
      candidates = excluded.candidates`.execute(tx)
}

/** The reports as rows. */
function sentRows(reports: readonly EndpointReport[]): RawBuilder<unknown> {
  const nodeIds = reports.map(({ nodeId }) => nodeId)
  const hosts = reports.map(({ host }) => host)
  const ports = reports.map(({ port }) => port)
  const natTypes = reports.map(({ natType }) => natType)
  const instants = reports.map(({ reportedAtMs }) => new Date(reportedAtMs).toISOString())
  const candidates = reports.map((report) => joined(report.candidates))
  return sql`
    select node_id, host, port, nat_type, reported_at, ${listOf(sql`given.candidates`)} as candidates
    from unnest(
      ${nodeIds}::uuid[], ${hosts}::text[], ${ports}::integer[], ${natTypes}::text[], ${instants}::timestamptz[],
      ${candidates}::text[]
    ) as given (node_id, host, port, nat_type, reported_at, candidates)`
}

/** A list in one text: PostgreSQL would unnest a list of lists. No address has a comma. */
function joined(candidates: readonly string[] = []): string {
  return candidates.join(',')
}

/** The list of such a text; none where it is empty. */
function listOf(text: RawBuilder<unknown>): RawBuilder<string[]> {
  return sql<string[]>`string_to_array(${text}, ',')`
}
