import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { STALE_AFTER_MS } from '../../sql/reachability.ts'
import { enqueue, messageOf, type Envelope } from './enqueue.ts'
import { holdOffline, markOffline, takeOnline, watchesNodes, type OfflineNode, type OnlineNode } from './nodes-store.ts'

export interface NodeWatchDeps {
  readonly datastore: Datastore
  readonly clock: Clock
  readonly ids: IdSource
}

const EVERY_MS = 5_000
/** Messages of one transaction. */
const MESSAGES_MAX = 500

/**
 * The job that queues `node.offline` and `node.online`. A mark in the same transaction says what a webhook was sent, so that neither a
 * restart nor another leader sends it twice. A node that cannot reach a server which was down is not offline: nothing is sent
 * about silent nodes until this process has led for as long as a node takes to become stale.
 */
export function createNodeWatch({ datastore, clock, ids }: NodeWatchDeps): LeaderJob {
  let term: AbortSignal | undefined
  let ledSinceMs = 0

  async function queueOffline(tx: Db, now: Date): Promise<number> {
    const nodes = await holdOffline(tx, now, MESSAGES_MAX)
    await markOffline(tx, nodes)
    await enqueue(tx, nodes.map(offlineOf(now)), { ids, now })
    return nodes.length
  }

  async function queueOnline(tx: Db, now: Date): Promise<number> {
    const nodes = await takeOnline(tx, MESSAGES_MAX)
    const wanted = nodes.filter(({ is_wanted: isWanted }) => isWanted)
    await enqueue(tx, wanted.map(onlineOf), { ids, now })
    return nodes.length
  }

  return {
    name: 'webhook-nodes',
    everyMs: EVERY_MS,
    async run(leading) {
      const nowMs = clock.now()
      if (term !== leading.signal) [term, ledSinceMs] = [leading.signal, nowMs]
      if (!(await watchesNodes(datastore.pool('worker')))) return false
      const now = new Date(nowMs)
      const online = await leading.transaction((tx) => queueOnline(tx, now))
      const mayBeLost = nowMs - ledSinceMs >= STALE_AFTER_MS
      const offline = mayBeLost ? await leading.transaction((tx) => queueOffline(tx, now)) : 0
      return online === MESSAGES_MAX || offline === MESSAGES_MAX
    },
  }
}

const offlineOf =
  (now: Date) =>
  ({ webhook_id: webhookId, node_id, node_name, domain_id, domain_slug, accepted_at }: OfflineNode): Envelope => ({
    webhookId,
    key: `node.offline:${node_id}:${accepted_at.toISOString()}`,
    message: messageOf('node.offline', now, {
      domain_id,
      domain_slug,
      path: `/v1/nodes/${node_id}`,
      node_id,
      node_name,
      last_heartbeat_at: accepted_at.toISOString(),
    }),
  })

function onlineOf({
  webhook_id: webhookId,
  healthy_since: since,
  node_id,
  node_name,
  domain_id,
  domain_slug,
  offline_since: offlineSince,
}: OnlineNode): Envelope {
  return {
    webhookId,
    key: `node.online:${node_id}:${offlineSince.toISOString()}`,
    message: messageOf('node.online', since, {
      domain_id,
      domain_slug,
      path: `/v1/nodes/${node_id}`,
      node_id,
      node_name,
      offline_since: offlineSince.toISOString(),
    }),
  }
}
