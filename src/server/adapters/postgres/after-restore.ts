import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'

/** The result of the restart. */
export interface Restarted {
  /** Nodes that receive events of changes. */
  readonly lanes: number
}

/** More events than any node, or all of them, have in the time between a backup and its restoration. */
const LEAP = 1_000_000_000

/**
 * Restarts what a restored datastore has numbered lower than nodes have seen it, within the caller's transaction.
 *
 * Events begin above every position and number that was used after the backup. Every position that an agent resumes from
 * is then below the kept events, so the agent must pull its whole state. Undelivered events are deleted, since the state
 * contains their content. The tag of the state differs from every earlier one. The preshared key of each node is newer
 * than any that was given after the backup, so that both ends of an edge replace what they hold (`restartPresharedKeys`).
 *
 * @param nowMs the clock, ms; not behind that of the server that was lost
 */
export async function restartAfterRestore(tx: Db, nowMs: number): Promise<Restarted> {
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
  await restartPresharedKeys(tx, nowMs)
  const moved = await sql`update node_lanes set last_seq = last_seq + ${LEAP}::bigint`.execute(tx)
  return { lanes: Number(moved.numAffectedRows ?? 0n) }
}

/** Nodes refuse a preshared key that is older than the one they hold: those of the backup are given out as new ones. */
async function restartPresharedKeys(tx: Db, nowMs: number): Promise<void> {
  const nowNs = (BigInt(Math.trunc(nowMs)) * 1_000_000n).toString()
  await sql`
    update nodes set psk_issued_at = greatest(
      ${nowNs}::bigint, (select max(psk_issued_at) + 1 from nodes)
    )`.execute(tx)
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
