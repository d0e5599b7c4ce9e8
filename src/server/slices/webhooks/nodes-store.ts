import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import { STALE_AFTER_MS } from '../../sql/reachability.ts'

/** A node and a webhook that is to be sent a message about it. */
export interface NodeOfWebhook {
  readonly webhook_id: string
  readonly node_id: string
  readonly node_name: string
  readonly domain_id: string
  readonly domain_slug: string
}

/** A node that is out of reach for as long as the webhook asks for. */
export interface OfflineNode extends NodeOfWebhook {
  /** Its last heartbeat. */
  readonly accepted_at: Date
}

/** A node that is back. */
export interface OnlineNode extends NodeOfWebhook {
  readonly offline_since: Date
  readonly healthy_since: Date
  /** Whether the webhook is still to be sent `node.online`. */
  readonly is_wanted: boolean
}

/** A webhook that is sent messages about nodes. */
export interface NodeSubscriber {
  readonly id: string
  readonly updated_at: Date
}

/** Reads the enabled webhooks that are sent messages about nodes. */
export async function nodeSubscribers(db: Db): Promise<readonly NodeSubscriber[]> {
  const { rows } = await sql<NodeSubscriber>`
    select id, updated_at from webhooks where disabled_at is null and 'node.offline' = any(events)`.execute(db)
  return rows
}

/** What the sweeper of reachabilities has announced as stale or unreachable; the index of silent nodes has it. */
const IS_SILENT = sql`h.announced_state in ('stale', 'unreachable') and h.accepted_at is not null`
const IS_UNSENT = sql`not exists (
  select from webhook_offline_nodes as m where m.webhook_id = w.id and m.node_id = h.node_id)`
/** When the webhook is to be sent `node.offline` about a node that stays silent. */
const DUE_AT = sql`h.accepted_at + (${STALE_AFTER_MS}::integer + w.for_seconds * 1000) * interval '1 millisecond'`

/**
 * Finds every node that these webhooks may have to be sent a message about. Reads all silent nodes of their Domains: what changes
 * afterwards is in the outbox.
 */
export async function findCandidates(
  db: Db,
  webhookIds: readonly string[],
): Promise<{ readonly silent: readonly string[]; readonly back: readonly string[] }> {
  const silent = await sql<{ node_id: string }>`
    select distinct h.node_id from webhooks as w
    join nodes as n on n.domain_id = w.domain_id
    join node_heartbeats as h on h.node_id = n.id
    where w.id = any(${webhookIds}::uuid[]) and ${IS_SILENT} and ${IS_UNSENT}`.execute(db)
  const back = await sql<{ node_id: string }>`
    select distinct m.node_id from webhook_offline_nodes as m join node_heartbeats as h on h.node_id = m.node_id
    where m.webhook_id = any(${webhookIds}::uuid[]) and h.announced_state = 'healthy'`.execute(db)
  return { silent: silent.rows.map(({ node_id: id }) => id), back: back.rows.map(({ node_id: id }) => id) }
}

/** Which nodes to examine, and how many messages are wanted at most. */
export interface NodesQuery {
  readonly nodeIds: readonly string[]
  readonly max: number
}

/** Holds those of the nodes that became stale so long ago, and of which the webhook was not sent that yet. */
export async function holdOffline(tx: Db, now: Date, { nodeIds, max }: NodesQuery): Promise<readonly OfflineNode[]> {
  const { rows } = await sql<OfflineNode>`
    select w.id as webhook_id, n.id as node_id, n.name as node_name, n.domain_id, d.slug as domain_slug, h.accepted_at
    from node_heartbeats as h
    join nodes as n on n.id = h.node_id
    join webhooks as w on w.domain_id = n.domain_id
    join domains as d on d.id = n.domain_id
    where h.node_id = any(${nodeIds}::uuid[]) and ${IS_SILENT}
      and w.disabled_at is null and 'node.offline' = any(w.events) and ${DUE_AT} <= ${now}::timestamptz and ${IS_UNSENT}
    order by n.id, w.id limit ${max}
    for key share of n, w`.execute(tx)
  return rows
}

/** When each of the nodes is to be examined next, if it stays silent. Nodes of which all was sent are left out. */
export async function nextOffline(
  db: Db,
  nodeIds: readonly string[],
): Promise<readonly { readonly node_id: string; readonly due_at: Date }[]> {
  const { rows } = await sql<{ node_id: string; due_at: Date }>`
    select h.node_id, min(${DUE_AT}) as due_at
    from node_heartbeats as h
    join nodes as n on n.id = h.node_id
    join webhooks as w on w.domain_id = n.domain_id
    where h.node_id = any(${nodeIds}::uuid[]) and ${IS_SILENT}
      and w.disabled_at is null and 'node.offline' = any(w.events) and ${IS_UNSENT}
    group by h.node_id`.execute(db)
  return rows
}

/** Marks that webhooks are sent `node.offline`. */
export async function markOffline(tx: Db, nodes: readonly OfflineNode[]): Promise<void> {
  if (nodes.length === 0) return
  const marks = nodes.map(({ webhook_id, node_id, accepted_at }) => ({
    webhook_id,
    node_id,
    offline_since: accepted_at,
  }))
  await tx.insertInto('webhook_offline_nodes').values(marks).execute()
}

/** Takes the marks of those of the nodes that are healthy again. Those of disabled webhooks are left until they are enabled. */
export async function takeOnline(tx: Db, nodeIds: readonly string[]): Promise<readonly OnlineNode[]> {
  const { rows } = await sql<OnlineNode>`
    with back as (
      select m.webhook_id, m.node_id, n.name as node_name, n.domain_id, d.slug as domain_slug, m.offline_since,
        coalesce(h.healthy_since, h.accepted_at) as healthy_since, 'node.online' = any(w.events) as is_wanted
      from webhook_offline_nodes as m
      join node_heartbeats as h on h.node_id = m.node_id
      join nodes as n on n.id = m.node_id
      join domains as d on d.id = n.domain_id
      join webhooks as w on w.id = m.webhook_id
      where m.node_id = any(${nodeIds}::uuid[])
        and w.disabled_at is null and h.announced_state = 'healthy' and h.accepted_at > m.offline_since
      order by m.node_id, m.webhook_id
      for key share of n, w
    ), taken as (
      delete from webhook_offline_nodes as m using back
      where m.webhook_id = back.webhook_id and m.node_id = back.node_id
    )
    select * from back`.execute(tx)
  return rows
}
