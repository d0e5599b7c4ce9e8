import { sql } from 'kysely'
import type { StateBlock } from '../../shared/events/wire-types.ts'
import type { Db } from '../ports/datastore.ts'
import { grouped } from './grouped.ts'
import type { FormerPlace } from '../ports/outbox-events.ts'
import type { PeerHint } from './peer-changes.ts'

/** Whether there are changes that some node may not have received. */
export async function hasHints(db: Db): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from peer_hints) or exists (select from node_hints)
      or exists (select from pending_peers) or exists (select from visibility_changes) as found`.execute(db)
  return rows[0]?.found === true
}

/** Reads and locks the relay's cursor. Until the transaction ends, no other one numbers events or adds hints. */
export async function lockRelay(tx: Db, name: string): Promise<bigint | undefined> {
  const row = await tx
    .selectFrom('outbox_consumers')
    .select('seq')
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst()
  return row === undefined ? undefined : BigInt(row.seq)
}

/** A lane whose node needs a hint. A lane is the ordered queue of a node's outgoing events. */
export interface DueLane {
  readonly nodeId: string
  readonly domainId: string
  /** The changes of peers after this outbox row are due; undefined where none are. */
  readonly afterSeq: bigint | undefined
  /** Other peers are visible to the node than before. */
  readonly isResync: boolean
  /** Sorted. */
  readonly ownBlocks: readonly StateBlock[]
  /** Number of changes in its own blocks. */
  readonly ownChanges: number
}

export interface DueTerms {
  readonly now: Date
  /** A lane with a later hint is not due yet. */
  readonly hintedBefore: Date
  /** Maximum number of hints per Domain between the two instants. */
  readonly perDomain: number
  /** Maximum number of lanes. Each Domain gets an equal share of them at first. */
  readonly max: number
}

/** Lanes that are due now. */
export interface DueLanes {
  readonly lanes: readonly DueLane[]
  /** Whether a Domain has further ones. */
  readonly isMore: boolean
}

/**
 * Forces index scans for the rest of the transaction. The table of outgoing events is usually empty, so the planner would
 * choose a sequential scan per lane even when the table is large.
 */
export async function preferIndexes(tx: Db): Promise<void> {
  await sql`set local enable_seqscan = off`.execute(tx)
}

/**
 * Finds the lanes that are due, the longest waiting of each Domain first. A Domain that uses less than its share leaves the rest to the
 * next read. A lane with an unpublished hint is not due: its further changes are merged, so the number of outgoing events stays
 * bounded while the stream is unavailable.
 */
export async function readDue(tx: Db, { now, hintedBefore, perDomain, max }: DueTerms): Promise<DueLanes> {
  if (max === 0) return { lanes: [], isMore: false }
  const { rows } = await sql<DueRow>`
    with newest as (
      select domain_id, max(seq) as seq from peer_hints where is_narrow = false group by domain_id
    ), own as materialized (
      select node_id, array_agg(distinct block order by block) as blocks, count(*)::integer as changes
      from node_hints group by node_id
    ), domain as (
      select domain_id from newest
      union select domain_id from pending_peers
      union select lane.domain_id from own join node_lanes as lane using (node_id)
    ), share as materialized (
      -- At least one lane, also where there are more Domains than lanes to read.
      select ceil(${max}::numeric / greatest(1, count(*)))::bigint as lanes from domain
    )
    select due.*, share.lanes as share, own.blocks, own.changes, pending.after_seq, coalesce(pending.is_resync, false) as is_resync
    from domain cross join share left join newest using (domain_id) cross join lateral (
      select node_id, domain_id, hinted_seq, hinted_at, hinted_seq < newest.seq as is_behind,
        row_number() over (order by hinted_at) as place
      from node_lanes as lane
      where lane.domain_id = domain.domain_id
        and (lane.hinted_at <= ${hintedBefore} or lane.hinted_at > ${now})
        and (
          lane.hinted_seq < newest.seq or lane.node_id in (select node_id from own)
          or lane.node_id in (select node_id from pending_peers)
        )
        and (
          -- The planner would prefer a join, which is slow as soon as there are many outgoing events.
          select former.id from outgoing_events as former
          where former.node_id = lane.node_id and former.type = 'node_state_updated' limit 1
        ) is null
      order by hinted_at
      limit least(share.lanes, greatest(0, ${perDomain}::bigint - (
        select count(*) from node_lanes as hinted
        where hinted.domain_id = domain.domain_id and hinted.hinted_at > ${hintedBefore} and hinted.hinted_at <= ${now}
      )))
    ) as due left join own using (node_id) left join pending_peers as pending on pending.node_id = due.node_id
    order by due.place, due.hinted_at, due.hinted_seq limit ${max}`.execute(tx)
  const isMore = rows.length === max || rows.some(({ place, share }) => place === share)
  return { lanes: rows.map(toLane), isMore }
}

function toLane(row: DueRow): DueLane {
  return {
    nodeId: row.node_id,
    domainId: row.domain_id,
    afterSeq: afterSeqOf(row),
    isResync: row.is_resync,
    ownBlocks: row.blocks ?? [],
    ownChanges: row.changes ?? 0,
  }
}

/** A lane that is behind the changes that concern every lane is due with all since its last hint. */
function afterSeqOf({ hinted_seq: hinted, is_behind: isBehind, after_seq: after }: DueRow): bigint | undefined {
  if (isBehind === true) return BigInt(hinted)
  return after === null ? undefined : BigInt(after)
}

interface DueRow {
  readonly node_id: string
  readonly domain_id: string
  readonly hinted_seq: string
  /** Null where no change concerns every lane. */
  readonly is_behind: boolean | null
  readonly after_seq: string | null
  readonly is_resync: boolean
  readonly blocks: readonly StateBlock[] | null
  readonly changes: number | null
  /** Its position among the lanes of its Domain that are due. */
  readonly place: string
  /** Maximum number of lanes of one Domain in this read. */
  readonly share: string
}

/** The newest peer changes of one Domain. */
export interface RecentHints {
  /** Oldest first. */
  readonly hints: readonly PeerHint[]
  /** Whether older ones were omitted. */
  readonly isCut: boolean
}

/** Reads up to `max` of the newest peer changes of each Domain. */
export async function readRecent(
  tx: Db,
  domainIds: readonly string[],
  max: number,
): Promise<ReadonlyMap<string, RecentHints>> {
  const { rows } = await sql<RecentRow>`
    select domain.id as domain_id, recent.seq, recent.change, recent.former
    from unnest(${domainIds}::uuid[]) as domain (id) cross join lateral (
      select seq, coalesce(peer, group_change) as change, former from peer_hints where domain_id = domain.id order by seq desc limit ${max + 1}
    ) as recent
    order by recent.seq`.execute(tx)
  const hints = grouped(rows, ({ domain_id }) => domain_id)
  return new Map(
    Array.from(hints, ([domainId, of]) => [domainId, { isCut: of.length > max, hints: of.map(toPeerHint) }]),
  )
}

/** A row of `peer_hints`. */
export interface RecentRow {
  readonly domain_id: string
  readonly seq: string
  readonly change: PeerHint['change']
  readonly former: FormerPlace | null
}

export function toPeerHint({ seq, change, former }: RecentRow): PeerHint {
  return { seq: BigInt(seq), change, former: former ?? undefined }
}

/** Marks lanes without changes as hinted up to `seq`. */
export async function advanceLanes(tx: Db, nodeIds: readonly string[], seq: bigint): Promise<void> {
  if (nodeIds.length === 0) return
  await sql`
    update node_lanes set hinted_seq = ${seq.toString()}::bigint where node_id = any(${nodeIds}::uuid[])`.execute(tx)
}

/** Deletes the changes of the nodes' own blocks, which their hints contain. */
export async function deleteOwnHints(tx: Db, nodeIds: readonly string[]): Promise<void> {
  if (nodeIds.length > 0) await sql`delete from node_hints where node_id = any(${nodeIds}::uuid[])`.execute(tx)
}

/** Deletes peer changes that every node has received that they concern. */
export async function deleteDeliveredHints(tx: Db): Promise<void> {
  await sql`
    delete from peer_hints using (
      -- Grouped, so that it is computed once per Domain: a correlated subquery would run for each change.
      select changed.domain_id, min(lane.hinted_seq) as delivered
      from (select distinct domain_id from peer_hints where is_narrow = false) as changed
      left join node_lanes as lane using (domain_id)
      group by changed.domain_id
    ) as domain
    where peer_hints.domain_id = domain.domain_id and peer_hints.is_narrow = false
      and (domain.delivered is null or peer_hints.seq <= domain.delivered)`.execute(tx)
  await sql`
    delete from peer_hints as hint
    where hint.is_narrow and not exists (
      select from pending_peers as pending where pending.domain_id = hint.domain_id and pending.after_seq < hint.seq
    )`.execute(tx)
}
