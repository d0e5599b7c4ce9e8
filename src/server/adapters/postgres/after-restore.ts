import { sql } from 'kysely'
import type { Datastore, Db } from '../../ports/datastore.ts'

/** The result of the restart. */
export interface Restarted {
  /** Nodes that receive events of changes. */
  readonly lanes: number
}

/** More events than any node, or all of them, have in the time between a backup and its restoration. */
const LEAP = 1_000_000_000

/**
 * Restarts the events of a restored datastore above every position and number that was used after the backup. Every
 * position that an agent resumes from is then below the kept events, so the agent must pull its whole state.
 * Undelivered events are deleted, since the state contains their content. The tag of the state differs from every
 * earlier one. Runs in one transaction.
 */
export function restartEvents(datastore: Datastore): Promise<Restarted> {
  return datastore.transaction('worker', async (tx) => {
    await tx.deleteFrom('outgoing_events').execute()
    await tx.deleteFrom('event_log').execute()
    await sql`
      update event_log_head
      set seq = seq + ${LEAP}::bigint, pruned_seq = seq + ${LEAP}::bigint, counted_seq = seq + ${LEAP}::bigint
      where id = 1`.execute(tx)
    // Nodes whose registration was not consumed from the outbox yet: their lanes would begin with 1 again.
    await sql`
      insert into node_lanes (node_id, domain_id, hinted_seq, hinted_at)
      select nodes.id, nodes.domain_id, consumer.seq, to_timestamp(0)
      from nodes, outbox_consumers as consumer where consumer.name = 'event-relay'
      on conflict (node_id) do nothing`.execute(tx)
    // The streams of Domains have positions of their own: consumers of the outbox go on where they were.
    await sql`update outbox_head set stream_base = stream_base + ${LEAP}::bigint`.execute(tx)
    await restartStates(tx)
    const moved = await sql`update node_lanes set last_seq = last_seq + ${LEAP}::bigint`.execute(tx)
    return { lanes: Number(moved.numAffectedRows ?? 0n) }
  })
}

/**
 * States that were pulled after the backup differ from these: their revisions are not used again, and every node must
 * pull.
 */
async function restartStates(tx: Db): Promise<void> {
  await sql`
    update domain_peers set revision = revision + ${LEAP}::bigint, whole_revision = revision + ${LEAP}::bigint`.execute(
    tx,
  )
  await sql`
    update node_heartbeats
    set node_revision = node_revision + ${LEAP}::bigint, pulled_node_revision = null, pulled_peer_revision = null`.execute(
    tx,
  )
}
