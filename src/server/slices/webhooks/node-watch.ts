import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { LeaderJob, Leading } from '../../ports/leadership.ts'
import type { NumberedEvent } from '../../ports/outbox.ts'
import { STALE_AFTER_MS } from '../../sql/reachability.ts'
import { createChangedNodes } from './changed-nodes.ts'
import { enqueue, messageOf, type Envelope } from './enqueue.ts'
import * as store from './nodes-store.ts'

export interface NodeWatchDeps {
  readonly datastore: Datastore
  readonly clock: Clock
  readonly ids: IdSource
}

/** Follows which nodes are silent, and since when. */
export interface NodeWatch {
  readonly job: LeaderJob
  /** Takes outbox events in order, in the process that leads. May be given the same ones again. */
  take(events: readonly NumberedEvent[]): void
}

const EVERY_MS = 5_000
/** Nodes that one transaction examines. */
const NODES_MAX = 500
/** `node.offline` of one transaction. */
const MESSAGES_MAX = 500

/**
 * The job that queues `node.offline` and `node.online`. A mark in the same transaction says what a webhook was sent, so that neither a
 * restart nor another leader sends it twice. A node that cannot reach a server which was down is not offline: nothing is sent
 * about silent nodes until this process has led for as long as a node takes to become stale.
 *
 * All silent nodes are read once in a term and when a webhook changes. From then on a pass examines the nodes of which the outbox has
 * a change, and those for which a webhook has waited long enough: nodes that are away for good cost nothing.
 */
export function createNodeWatch({ datastore, clock, ids }: NodeWatchDeps): NodeWatch {
  const nodes = createChangedNodes()
  let term: AbortSignal | undefined
  let ledSinceMs = 0
  /** Webhooks whose nodes are followed, each as it was changed last. */
  let followed: ReadonlySet<string> = new Set()

  function beginTerm({ signal }: Leading, nowMs: number): void {
    if (term === signal) return
    term = signal
    ledSinceMs = nowMs
    followed = new Set()
    nodes.clear()
  }

  /** False where no webhook is sent messages about nodes. */
  async function followAll(): Promise<boolean> {
    const db = datastore.pool('worker')
    const subscribers = await store.nodeSubscribers(db)
    const added = subscribers.filter((each) => !followed.has(versionOf(each)))
    if (added.length > 0) {
      const { silent, back } = await store.findCandidates(
        db,
        added.map(({ id }) => id),
      )
      for (const nodeId of silent) nodes.addSilent(nodeId, -Infinity)
      for (const nodeId of back) nodes.addBack(nodeId)
    }
    followed = new Set(subscribers.map(versionOf))
    if (subscribers.length === 0) nodes.clear()
    return subscribers.length > 0
  }

  /** Resolves with whether there may be more. */
  async function passOnline(leading: Leading, now: Date): Promise<boolean> {
    const nodeIds = nodes.nextBack(NODES_MAX)
    if (nodeIds.length === 0) return false
    try {
      await leading.transaction(async (tx) => {
        const found = await store.takeOnline(tx, nodeIds)
        const wanted = found.filter(({ is_wanted: isWanted }) => isWanted)
        await enqueue(tx, wanted.map(onlineOf), { ids, now })
      })
    } catch (error) {
      for (const nodeId of nodeIds) nodes.addBack(nodeId)
      throw error
    }
    return nodeIds.length === NODES_MAX
  }

  async function passOffline(leading: Leading, now: Date): Promise<boolean> {
    const nodeIds = nodes.nextSilent(now.getTime(), NODES_MAX)
    if (nodeIds.length === 0) return false
    try {
      const { count, next } = await leading.transaction((tx) => queueOffline(tx, now, nodeIds))
      // The datastore counts in microseconds: a millisecond later it is due for certain.
      for (const { node_id: nodeId, due_at: dueAt } of next) nodes.addSilent(nodeId, dueAt.getTime() + 1)
      return count === MESSAGES_MAX || nodeIds.length === NODES_MAX
    } catch (error) {
      for (const nodeId of nodeIds) nodes.addSilent(nodeId, -Infinity)
      throw error
    }
  }

  async function queueOffline(tx: Db, now: Date, nodeIds: readonly string[]) {
    const found = await store.holdOffline(tx, now, { nodeIds, max: MESSAGES_MAX })
    await store.markOffline(tx, found)
    await enqueue(tx, found.map(offlineOf(now)), { ids, now })
    return { count: found.length, next: await store.nextOffline(tx, nodeIds) }
  }

  return {
    take: (events) => nodes.take(events),
    job: {
      name: 'webhook-nodes',
      everyMs: EVERY_MS,
      async run(leading) {
        const nowMs = clock.now()
        beginTerm(leading, nowMs)
        if (!(await followAll())) return false
        const now = new Date(nowMs)
        const isMoreOnline = await passOnline(leading, now)
        const mayBeLost = nowMs - ledSinceMs >= STALE_AFTER_MS
        const isMoreOffline = mayBeLost && (await passOffline(leading, now))
        return isMoreOnline || isMoreOffline
      },
    },
  }
}

/** A webhook that was changed is another version: its nodes are read again. */
function versionOf({ id, updated_at: at }: store.NodeSubscriber): string {
  return `${id} ${at.getTime()}`
}

const offlineOf =
  (now: Date) =>
  ({
    webhook_id: webhookId,
    node_id,
    node_name,
    domain_id,
    domain_slug,
    accepted_at,
  }: store.OfflineNode): Envelope => ({
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
}: store.OnlineNode): Envelope {
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
