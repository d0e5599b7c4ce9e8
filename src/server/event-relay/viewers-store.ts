import { sql } from 'kysely'
import type { Db } from '../ports/datastore.ts'
import { toPeerHint, type RecentRow } from './hints-store.ts'
import type { PeerHint } from './peer-changes.ts'

/** Domains with changes of which it is not decided yet which nodes they concern. */
export async function undecidedDomains(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ domain_id: string }>`
    select domain_id from peer_hints where is_narrow is null
    union select domain_id from visibility_changes
    order by domain_id`.execute(db)
  return rows.map((row) => row.domain_id)
}

/** Those of the Domains whose nodes see only some of the others. */
export async function filteredAmong(db: Db, domainIds: readonly string[]): Promise<readonly string[]> {
  if (domainIds.length === 0) return []
  const rows = await db
    .selectFrom('domains')
    .select('id')
    .where('id', '=', sql<string>`any(${domainIds}::uuid[])`)
    .where('peer_visibility', '=', 'reachable')
    .execute()
  return rows.map(({ id }) => id)
}

/** What is undecided in a Domain. */
export interface Undecided {
  /** Oldest first. */
  readonly hints: readonly PeerHint[]
  /** Whether further ones were left out. */
  readonly isCut: boolean
  /** The revisions of the Domain's peers that changes of who sees whom raised. */
  readonly visibilityRevisions: readonly number[]
}

export async function readUndecided(tx: Db, domainId: string, max: number): Promise<Undecided> {
  const { rows } = await sql<RecentRow>`
    select domain_id, seq, coalesce(peer, group_change) as change, former from peer_hints
    where domain_id = ${domainId} and is_narrow is null order by seq limit ${max + 1}`.execute(tx)
  const changes = await tx
    .selectFrom('visibility_changes')
    .select('revision')
    .where('domain_id', '=', domainId)
    .execute()
  return {
    hints: rows.map(toPeerHint),
    isCut: rows.length > max,
    visibilityRevisions: changes.map(({ revision }) => Number(revision)),
  }
}

/** Stores which of the Domain's undecided changes concern only some nodes; all others are due to every lane. */
export async function markDecided(tx: Db, domainId: string, narrow: readonly bigint[]): Promise<void> {
  await sql`
    update peer_hints set is_narrow = seq = any(${narrow.map(String)}::bigint[])
    where domain_id = ${domainId} and is_narrow is null`.execute(tx)
}

export async function deleteVisibilityChanges(tx: Db, domainId: string): Promise<void> {
  await tx.deleteFrom('visibility_changes').where('domain_id', '=', domainId).execute()
}

/** Nodes that are due. */
export interface Pending {
  readonly nodeId: string
  /** The changes after this outbox row are due to it. */
  readonly afterSeq: bigint
  readonly isResync: boolean
}

/** Makes nodes due that have a lane. */
export async function addPending(tx: Db, pending: readonly Pending[]): Promise<void> {
  if (pending.length === 0) return
  await sql`
    insert into pending_peers (node_id, domain_id, after_seq, is_resync)
    select lane.node_id, lane.domain_id, pending.after_seq, pending.is_resync
    from unnest(
      ${pending.map(({ nodeId }) => nodeId)}::uuid[],
      ${pending.map(({ afterSeq }) => afterSeq.toString())}::bigint[],
      ${pending.map(({ isResync }) => isResync)}::boolean[]
    ) as pending (node_id, after_seq, is_resync)
    join node_lanes as lane on lane.node_id = pending.node_id
    on conflict (node_id) do update set
      after_seq = least(pending_peers.after_seq, excluded.after_seq),
      is_resync = pending_peers.is_resync or excluded.is_resync`.execute(tx)
}

/** Asks every node of the Domain to pull its state. */
export async function addPendingOfDomain(tx: Db, domainId: string, afterSeq: bigint): Promise<void> {
  await sql`
    insert into pending_peers (node_id, domain_id, after_seq, is_resync)
    select node_id, domain_id, ${afterSeq.toString()}::bigint, true from node_lanes where domain_id = ${domainId}
    on conflict (node_id) do update set is_resync = true`.execute(tx)
}

export async function deletePending(tx: Db, nodeIds: readonly string[]): Promise<void> {
  if (nodeIds.length > 0) await sql`delete from pending_peers where node_id = any(${nodeIds}::uuid[])`.execute(tx)
}
