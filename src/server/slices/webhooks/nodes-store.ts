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

/** Whether any webhook is sent messages about nodes. */
export async function watchesNodes(db: Db): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from webhooks where disabled_at is null and 'node.offline' = any(events)) as found`.execute(
    db,
  )
  return rows[0]?.found === true
}

/**
 * Holds nodes that became stale so long ago, and of which the webhook was not sent that yet. The index of silent nodes has what the
 * sweeper of reachabilities has announced as stale or unreachable.
 */
export async function holdOffline(tx: Db, now: Date, max: number): Promise<readonly OfflineNode[]> {
  const { rows } = await sql<OfflineNode>`
    with silent as materialized (
      select node_id, accepted_at from node_heartbeats
      where announced_state in ('stale', 'unreachable') and accepted_at is not null
    )
    select w.id as webhook_id, n.id as node_id, n.name as node_name, n.domain_id, d.slug as domain_slug, s.accepted_at
    from silent as s
    join nodes as n on n.id = s.node_id
    join webhooks as w on w.domain_id = n.domain_id
    join domains as d on d.id = n.domain_id
    where w.disabled_at is null and 'node.offline' = any(w.events)
      and s.accepted_at <= ${now}::timestamptz - (${STALE_AFTER_MS}::integer + w.for_seconds * 1000) * interval '1 millisecond'
      and not exists (select from webhook_offline_nodes as m where m.webhook_id = w.id and m.node_id = n.id)
    order by n.id, w.id limit ${max}
    for key share of n, w`.execute(tx)
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

/** Takes the marks of nodes that are healthy again. Those of disabled webhooks are left until they are enabled. */
export async function takeOnline(tx: Db, max: number): Promise<readonly OnlineNode[]> {
  const { rows } = await sql<OnlineNode>`
    with back as (
      select m.webhook_id, m.node_id, n.name as node_name, n.domain_id, d.slug as domain_slug, m.offline_since,
        coalesce(h.healthy_since, h.accepted_at) as healthy_since, 'node.online' = any(w.events) as is_wanted
      from webhook_offline_nodes as m
      join node_heartbeats as h on h.node_id = m.node_id
      join nodes as n on n.id = m.node_id
      join domains as d on d.id = n.domain_id
      join webhooks as w on w.id = m.webhook_id
      where w.disabled_at is null and h.announced_state = 'healthy' and h.accepted_at > m.offline_since
      order by m.node_id, m.webhook_id limit ${max}
      for key share of n, w
    ), taken as (
      delete from webhook_offline_nodes as m using back
      where m.webhook_id = back.webhook_id and m.node_id = back.node_id
    )
    select * from back`.execute(tx)
  return rows
}
