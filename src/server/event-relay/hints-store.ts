import { sql } from 'kysely'
import type { PeerChange, StateBlock } from '../../shared/events/wire-types.ts'
import type { Db } from '../ports/datastore.ts'
import { grouped } from './grouped.ts'
import type { PeerHint } from './peer-changes.ts'

/** Whether a node may be left to be told of a change. */
export async function hasHints(db: Db): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from peer_hints) or exists (select from node_hints) as found`.execute(db)
  return rows[0]?.found === true
}

/** The relay's cursor, locked until the transaction ends: nobody else gives numbers or adds hints until then. */
export async function lockRelay(tx: Db, name: string): Promise<bigint | undefined> {
  const row = await tx
    .selectFrom('outbox_consumers')
    .select('seq')
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst()
  return row === undefined ? undefined : BigInt(row.seq)
}

/** A lane whose node is to be told what changed. */
export interface DueLane {
  readonly nodeId: string
  readonly domainId: string
  readonly hintedSeq: bigint
  /** Sorted. */
  readonly ownBlocks: readonly StateBlock[]
  /** How many changes of its own blocks these are. */
  readonly ownChanges: number
}

export interface DueTerms {
  readonly now: Date
  /** Lanes that were hinted later are not due yet. */
  readonly hintedBefore: Date
  /** Hints that a Domain may have between the two instants. */
  readonly perDomain: number
  readonly max: number
}

/**
 * Has the rest of the transaction look for things through their indexes. What is on its way is mostly nothing, and known
 * as that to the planner: it would go through the whole table for each lane when there is much.
 */
export async function preferIndexes(tx: Db): Promise<void> {
  await sql`set local enable_seqscan = off`.execute(tx)
}

/**
 * Finds lanes whose node is to be told, those that wait longest first. A lane whose last hint has not left yet waits for
 * that: what changes meanwhile merges, and what is on its way stays bounded while nothing leaves.
 */
export async function readDue(tx: Db, { now, hintedBefore, perDomain, max }: DueTerms): Promise<DueLane[]> {
  const { rows } = await sql<DueRow>`
    with news as (
      select domain_id, max(seq) as seq from peer_hints group by domain_id
    ), own as materialized (
      select node_id, array_agg(distinct block order by block) as blocks, count(*)::integer as changes
      from node_hints group by node_id
    ), domain as (
      select domain_id from news
      union select lane.domain_id from own join node_lanes as lane using (node_id)
    )
    select due.*, own.blocks, own.changes
    from domain left join news using (domain_id) cross join lateral (
      select node_id, domain_id, hinted_seq, hinted_at from node_lanes as lane
      where lane.domain_id = domain.domain_id
        and (lane.hinted_at <= ${hintedBefore} or lane.hinted_at > ${now})
        and (lane.hinted_seq < news.seq or lane.node_id in (select node_id from own))
        and (
          -- A join with all that is on its way would be found cheaper, and be dear as soon as much is.
          select former.id from outgoing_events as former
          where former.node_id = lane.node_id and former.type = 'node_state_updated' limit 1
        ) is null
      order by hinted_at
      limit least(${max}::bigint, greatest(0, ${perDomain}::bigint - (
        select count(*) from node_lanes as told
        where told.domain_id = domain.domain_id and told.hinted_at > ${hintedBefore} and told.hinted_at <= ${now}
      )))
    ) as due left join own using (node_id)
    order by due.hinted_at, due.hinted_seq limit ${max}`.execute(tx)
  return rows.map((row) => ({
    nodeId: row.node_id,
    domainId: row.domain_id,
    hintedSeq: BigInt(row.hinted_seq),
    ownBlocks: row.blocks ?? [],
    ownChanges: row.changes ?? 0,
  }))
}

interface DueRow {
  readonly node_id: string
  readonly domain_id: string
  readonly hinted_seq: string
  readonly blocks: readonly StateBlock[] | null
  readonly changes: number | null
}

/** The newest changes of peers of each Domain. */
export interface RecentHints {
  /** Oldest first. */
  readonly hints: readonly PeerHint[]
  /** Whether older ones were left out. */
  readonly isCut: boolean
}

/** Reads up to `max` of the newest changes of each Domain's peers. */
export async function readRecent(
  tx: Db,
  domainIds: readonly string[],
  max: number,
): Promise<ReadonlyMap<string, RecentHints>> {
  const { rows } = await sql<{ domain_id: string; seq: string; peer: PeerChange }>`
    select domain.id as domain_id, recent.seq, recent.peer
    from unnest(${domainIds}::uuid[]) as domain (id) cross join lateral (
      select seq, peer from peer_hints where domain_id = domain.id order by seq desc limit ${max + 1}
    ) as recent
    order by recent.seq`.execute(tx)
  const hints = grouped(rows, ({ domain_id }) => domain_id)
  return new Map(Array.from(hints, ([domainId, of]) => [domainId, { isCut: of.length > max, hints: of.map(toHint) }]))
}

function toHint({ seq, peer }: { readonly seq: string; readonly peer: PeerChange }): PeerHint {
  return { seq: BigInt(seq), peer }
}

/** Says of lanes that had nothing to hear that they are told of everything up to there. */
export async function passLanes(tx: Db, nodeIds: readonly string[], seq: bigint): Promise<void> {
  if (nodeIds.length === 0) return
  await sql`
    update node_lanes set hinted_seq = ${seq.toString()}::bigint where node_id = any(${nodeIds}::uuid[])`.execute(tx)
}

/** Forgets changes of their own blocks that nodes have been told of. */
export async function deleteOwn(tx: Db, nodeIds: readonly string[]): Promise<void> {
  if (nodeIds.length > 0) await sql`delete from node_hints where node_id = any(${nodeIds}::uuid[])`.execute(tx)
}

/** Deletes changes that every node of the Domain has been told of. */
export async function deleteHeard(tx: Db): Promise<void> {
  await sql`
    delete from peer_hints using (
      -- Grouped, so that it is found once per Domain: a subquery would be asked again for each change.
      select news.domain_id, min(lane.hinted_seq) as heard
      from (select distinct domain_id from peer_hints) as news left join node_lanes as lane using (domain_id)
      group by news.domain_id
    ) as domain
    where peer_hints.domain_id = domain.domain_id and (domain.heard is null or peer_hints.seq <= domain.heard)`.execute(
    tx,
  )
}
