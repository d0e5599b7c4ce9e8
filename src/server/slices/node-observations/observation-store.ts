import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { EndpointAddress } from './endpoint-address.ts'
import type { Observation } from './peer-endpoint.ts'

/** Observers of one node whose observations are kept: the first ones, until theirs are older than the TTL. */
const OBSERVERS_MAX = 16
/** Peers of one observer whose address may become another one in that time: each change is an event for all of their peers. */
const CHANGES_MAX = 64
const CHANGES_WITHIN_MS = 10_000

/** Where the observer sees one of its peers. */
export interface Seen extends EndpointAddress {
  readonly nodeId: string
}

/** A report of where an observer sees its peers. */
export interface ObservedReport {
  readonly observerId: string
  readonly domainId: string
  /** The observer's own instant, ms. */
  readonly observedAtMs: number
  /** When the request was admitted, ms. */
  readonly nowMs: number
  readonly ttlMs: number
}

/** What decides which peers an observer has. */
export interface Observer {
  /** Of endpoints in its Domain. */
  readonly ttlMs: number
  /** Whether nodes of the Domain see only some of the others, and the revision that decides which. */
  readonly isFiltered: boolean
  readonly peerRevision: number
}

/** A node of the observer's Domain. */
export interface Target {
  readonly nodeId: string
  /** The observer has reported of it in this or a newer report. */
  readonly isHeld: boolean
  /** As many others as are kept have reported of it. */
  readonly isFull: boolean
}

/** Fresh observations of a node, and the endpoint TTL in its Domain, ms. */
export interface Observed {
  readonly ttlMs: number
  readonly observations: readonly Observation[]
}

/** Reads it; undefined for a node that was deleted. */
export async function findObserver(db: Db, nodeId: string): Promise<Observer | undefined> {
  const row = await db
    .selectFrom('nodes as n')
    .innerJoin('domains as d', 'd.id', 'n.domain_id')
    .leftJoin('domain_peers as p', 'p.domain_id', 'n.domain_id')
    .select((on) => [
      'd.endpoint_ttl_seconds',
      on('d.peer_visibility', '=', 'reachable').as('is_filtered'),
      on.fn.coalesce('p.revision', sql<string>`0`).as('peer_revision'),
    ])
    .where('n.id', '=', nodeId)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { endpoint_ttl_seconds, is_filtered, peer_revision } = row
  return {
    ttlMs: endpoint_ttl_seconds * 1000,
    isFiltered: Boolean(is_filtered),
    peerRevision: Number(peer_revision),
  }
}

/**
 * Renews those of the observations that only repeat what is known and fresh: they change nothing that peers get, and lock
 * nothing that others wait for. Returns their nodes. The observer's row is held first, as its deregistration does.
 */
export async function renewObservations(
  db: Db,
  { observerId, observedAtMs, nowMs, ttlMs }: ObservedReport,
  seen: readonly Seen[],
): Promise<ReadonlySet<string>> {
  const at = instant(observedAtMs)
  const { rows } = await sql<{ node_id: string }>`
    with observer as (select id from nodes where id = ${observerId} for key share),
    held as (
      select o.node_id
      from observer
      join endpoint_observations as o on o.observer_id = observer.id
      join (${seenRows(seen)}) as sent
        on sent.node_id = o.node_id and sent.host = o.endpoint and sent.port = o.endpoint_port
      where o.observed_at < ${at} and o.observed_at >= ${instant(nowMs - ttlMs)}
      order by o.node_id for update of o
    )
    update endpoint_observations as o set observed_at = ${at}
    from held where o.node_id = held.node_id and o.observer_id = ${observerId}
    returning o.node_id`.execute(db)
  return new Set(rows.map(({ node_id }) => node_id))
}

/** Reads those of the nodes that the observer's Domain has, but for the observer itself. */
export async function readTargets(
  db: Db,
  { observerId, domainId, observedAtMs, nowMs, ttlMs }: ObservedReport,
  nodeIds: readonly string[],
): Promise<readonly Target[]> {
  const { rows } = await sql<{ id: string; is_held: boolean | null; others: string }>`
    select n.id, own.observed_at >= ${instant(observedAtMs)} as is_held, (
      select count(*) from endpoint_observations as o
      where o.node_id = n.id and o.observer_id <> ${observerId} and o.observed_at >= ${instant(nowMs - ttlMs)}
    ) as others
    from nodes as n
    left join endpoint_observations as own on own.node_id = n.id and own.observer_id = ${observerId}
    where n.domain_id = ${domainId} and n.id = any(${nodeIds}::uuid[]) and n.id <> ${observerId}
    order by n.id`.execute(db)
  return rows.map(({ id, is_held, others }) => {
    return { nodeId: id, isHeld: is_held === true, isFull: Number(others) >= OBSERVERS_MAX }
  })
}

/**
 * Stores observations of nodes, whose rows the caller has locked beside that of the observer, in the order of their ids, after
 * those of the nodes that have expired are deleted. Left out are those that are not newer, one more than are kept of a node,
 * and other addresses than before where the observer has changed that one a moment ago, or too many. Returns the nodes of the others.
 */
export async function storeObservations(
  tx: Db,
  report: ObservedReport,
  seen: readonly Seen[],
): Promise<ReadonlySet<string>> {
  const { observerId, domainId, observedAtMs, nowMs } = report
  await deleteExpired(tx, report, seen)
  const [now, at] = [instant(nowMs), instant(observedAtMs)]
  const isSame = sql`o.endpoint = excluded.endpoint and o.endpoint_port = excluded.endpoint_port`
  const { rows } = await sql<{ node_id: string }>`
    insert into endpoint_observations as o
      (node_id, observer_id, endpoint, endpoint_port, first_seen_at, seen_since, observed_at)
    select n.id, ${observerId}::uuid, sent.host, sent.port, ${now}::timestamptz, ${now}::timestamptz, ${at}::timestamptz
    from (${seenRows(seen)}) as sent join nodes as n on n.id = sent.node_id and n.domain_id = ${domainId}
    where (
      select count(*) from endpoint_observations as kept where kept.node_id = n.id and kept.observer_id <> ${observerId}
    ) < ${OBSERVERS_MAX}
    order by n.id
    on conflict (node_id, observer_id) do update set
      endpoint = excluded.endpoint,
      endpoint_port = excluded.endpoint_port,
      observed_at = excluded.observed_at,
      seen_since = case when ${isSame} then o.seen_since else excluded.seen_since end
    where o.observed_at < excluded.observed_at and ((${isSame}) or (not ${hasJustChanged(sql`o`, nowMs)} and (
      select count(*) from endpoint_observations as changed
      where changed.observer_id = ${observerId} and ${hasJustChanged(sql`changed`, nowMs)}
    ) < ${CHANGES_MAX}))
    returning o.node_id`.execute(tx)
  return new Set(rows.map(({ node_id }) => node_id))
}

/** Whether the address of an observation has changed within the last seconds. It changes once in that time. */
function hasJustChanged(row: RawBuilder<unknown>, nowMs: number): RawBuilder<boolean> {
  return sql<boolean>`(${row}.seen_since > ${row}.first_seen_at and ${row}.seen_since > ${instant(nowMs - CHANGES_WITHIN_MS)})`
}

async function deleteExpired(tx: Db, { nowMs, ttlMs }: ObservedReport, seen: readonly Seen[]): Promise<void> {
  const nodeIds = seen.map(({ nodeId }) => nodeId)
  await sql`
    delete from endpoint_observations where ctid = any(array(
      select ctid from endpoint_observations
      where node_id = any(${nodeIds}::uuid[]) and observed_at < ${instant(nowMs - ttlMs)}
      for update skip locked
    ))`.execute(tx)
}

/**
 * Makes what peers have seen of nodes until now the oldest of all: they have moved since. The caller has locked the rows of the
 * nodes. An observation that is being renewed now stays as it is.
 */
export async function ageObservationsOf(tx: Db, nodeIds: readonly string[]): Promise<void> {
  await sql`
    update endpoint_observations set seen_since = to_timestamp(0) where ctid = any(array(
      select ctid from endpoint_observations where node_id = any(${nodeIds}::uuid[]) for update skip locked
    ))`.execute(tx)
}

/** Reads the fresh observations of nodes, by node; a deleted node has none. */
export async function readFreshObservations(
  db: Db,
  nodeIds: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, Observed>> {
  const rows = await db
    .selectFrom('nodes as n')
    .innerJoin('domains as d', 'd.id', 'n.domain_id')
    .leftJoin('endpoint_observations as o', (on) =>
      on
        .onRef('o.node_id', '=', 'n.id')
        .on(
          sql<boolean>`o.observed_at >= ${instant(nowMs)}::timestamptz - d.endpoint_ttl_seconds * interval '1 second'`,
        ),
    )
    .select(['n.id', 'd.endpoint_ttl_seconds', 'o.endpoint', 'o.endpoint_port', 'o.seen_since', 'o.observed_at'])
    .where('n.id', '=', sql<string>`any(${nodeIds}::uuid[])`)
    .execute()
  const observed = new Map<string, { readonly ttlMs: number; readonly observations: Observation[] }>()
  for (const { id, endpoint_ttl_seconds, endpoint: host, endpoint_port: port, seen_since, observed_at } of rows) {
    const ofNode = observed.get(id) ?? { ttlMs: endpoint_ttl_seconds * 1000, observations: [] }
    observed.set(id, ofNode)
    if (host === null || port === null || seen_since === null || observed_at === null) continue
    ofNode.observations.push({ host, port, sinceMs: seen_since.getTime(), observedAtMs: observed_at.getTime() })
  }
  return observed
}

function instant(ms: number): string {
  return new Date(ms).toISOString()
}

function seenRows(seen: readonly Seen[]): RawBuilder<unknown> {
  const nodeIds = seen.map(({ nodeId }) => nodeId)
  const hosts = seen.map(({ host }) => host)
  const ports = seen.map(({ port }) => port)
  return sql`
    select node_id, host, port from unnest(${nodeIds}::uuid[], ${hosts}::text[], ${ports}::integer[])
      as given (node_id, host, port)`
}
