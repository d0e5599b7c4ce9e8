import { sql } from 'kysely'
import { textLines } from '../../../shared/text-lines.ts'
import type { Db } from '../../ports/datastore.ts'
import type { BusEvent, OutgoingEvent, StreamBounds } from '../../ports/event-bus.ts'

/** Maximum bytes of event text in one read: a replica that is far behind catches up in bounded pieces. */
const FOLLOWED_BYTES = 4 * 1024 * 1024

/**
 * Appends events in their order. The row of the head is locked until the transaction has ended, so that a number becomes
 * visible only when every lower one is: a caller that reads up to a number has read every event below it. An event
 * that exists already is skipped; its number stays unused.
 */
export async function append(db: Db, events: readonly OutgoingEvent[], at: Date): Promise<Stretch> {
  const { rows } = await sql<{ base: string; added: number }>`
    with head as (
      update event_log_head set seq = seq + ${events.length}::bigint where id = 1
      returning seq - ${events.length}::bigint as base
    ), added as (
      insert into event_log (seq, node_id, node_seq, type, wire, at)
      select head.base + fresh.place, fresh.node_id, fresh.node_seq, fresh.type, fresh.wire, ${at}
      from head, unnest(
        ${events.map(({ nodeId }) => nodeId)}::uuid[],
        ${events.map(({ nodeSeq }) => nodeSeq.toString())}::bigint[],
        ${events.map(({ type }) => type)}::text[],
        string_to_array(${textLines(events.map(({ wire }) => wire))}::text, e'\n')
      ) with ordinality as fresh (node_id, node_seq, type, wire, place)
      on conflict (node_id, node_seq) do nothing
      returning 1
    )
    select base, (select count(*)::integer from added) as added from head`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('event_log_head has no row')
  const base = BigInt(row.base)
  if (row.added < events.length) return { base, events: undefined }
  const places = events.map(({ nodeId, nodeSeq, type, wire }, place) => ({
    seq: base + BigInt(place + 1),
    nodeId,
    nodeSeq,
    type,
    wire,
  }))
  return { base, events: places }
}

/** The result of one append. */
export interface Stretch {
  /** The position before it. */
  readonly base: bigint
  /** One at each position, at least one; undefined where some existed before. */
  readonly events: readonly BusEvent[] | undefined
}

interface EventRow {
  seq: string
  node_id: string
  node_seq: string
  type: string
  wire: string
}

function eventOf({ seq, node_id, node_seq, type, wire }: EventRow): BusEvent {
  return { seq: BigInt(seq), nodeId: node_id, nodeSeq: BigInt(node_seq), type, wire }
}

/** The events after a position, read in one snapshot. */
export interface LogTail {
  readonly head: bigint
  /** The highest number that was ever pruned. */
  readonly prunedSeq: bigint
  /** The next events, oldest first; none where nothing is left up to the head. */
  readonly events: readonly BusEvent[]
}

type TailRow = { readonly head: string; readonly pruned_seq: string } & (EventRow | { readonly seq: null })

/** Reads up to `max` events after a position, fewer where they are large, at least one where there is one. */
export async function readTail(db: Db, after: bigint, max: number): Promise<LogTail> {
  const { rows } = await sql<TailRow>`
    select head.seq as head, head.pruned_seq, event.seq, event.node_id, event.node_seq, event.type, event.wire
    from event_log_head as head left join lateral (
      select * from (
        select *, sum(octet_length(wire)) over (order by seq) - octet_length(wire) as bytes_before
        from (select * from event_log where seq > ${after}::bigint order by seq limit ${max}) as next
      ) as measured where bytes_before < ${FOLLOWED_BYTES}
    ) as event on true
    where head.id = 1
    order by event.seq`.execute(db)
  const [first] = rows
  if (first === undefined) throw new Error('event_log_head has no row')
  const events = rows.flatMap((row) => (row.seq === null ? [] : [eventOf(row)]))
  return { head: BigInt(first.head), prunedSeq: BigInt(first.pruned_seq), events }
}

export async function readHead(db: Db): Promise<bigint> {
  const { seq } = await db.selectFrom('event_log_head').select('seq').where('id', '=', 1).executeTakeFirstOrThrow()
  return BigInt(seq)
}

interface BoundsRow {
  node_id: string
  head: string
  oldest: string | null
  oldest_node_seq: string
  newest: string | null
  newest_node_seq: string
}

/** Head and both ends of the events of each node, in one snapshot. */
export async function readBounds(db: Db, nodeIds: readonly string[]): Promise<ReadonlyMap<string, StreamBounds>> {
  const { rows } = await sql<BoundsRow>`
    select asked.node_id, head.seq as head, oldest.seq as oldest, oldest.node_seq as oldest_node_seq,
      newest.seq as newest, newest.node_seq as newest_node_seq
    from event_log_head as head
    cross join unnest(${nodeIds}::uuid[]) as asked (node_id)
    left join lateral (
      select seq, node_seq from event_log where node_id = asked.node_id order by seq limit 1
    ) as oldest on true
    left join lateral (
      select seq, node_seq from event_log where node_id = asked.node_id order by seq desc limit 1
    ) as newest on true
    where head.id = 1`.execute(db)
  return new Map(rows.map((row) => [row.node_id, boundsOf(row)]))
}

function boundsOf({ head, oldest, oldest_node_seq, newest, newest_node_seq }: BoundsRow): StreamBounds {
  return {
    head: BigInt(head),
    oldest: oldest === null ? undefined : { seq: BigInt(oldest), nodeSeq: BigInt(oldest_node_seq) },
    newest: newest === null ? undefined : { seq: BigInt(newest), nodeSeq: BigInt(newest_node_seq) },
  }
}

export interface NodeRange {
  readonly after: bigint
  readonly upTo: bigint
  readonly max: number
}

/** Reads a node's events within the range, oldest first. */
export async function readNode(db: Db, nodeId: string, { after, upTo, max }: NodeRange): Promise<BusEvent[]> {
  const rows = await db
    .selectFrom('event_log')
    .select(['seq', 'node_id', 'node_seq', 'type', 'wire'])
    .where('node_id', '=', nodeId)
    .where('seq', '>', after.toString())
    .where('seq', '<=', upTo.toString())
    .orderBy('seq')
    .limit(max)
    .execute()
  return rows.map(eventOf)
}

/** Deletes those of the `max` oldest events that are from before that moment. @returns how many. */
export async function pruneOld(tx: Db, { before, max }: { before: Date; max: number }): Promise<number> {
  const { rows } = await sql<{ pruned: number }>`
    with oldest as (select seq, at from event_log order by seq limit ${max}),
    pruned as (
      delete from event_log using oldest where event_log.seq = oldest.seq and oldest.at < ${before}
      returning event_log.seq
    ),
    noted as (
      update event_log_head set pruned_seq = greatest(pruned_seq, (select max(seq) from pruned))
      where id = 1 and exists (select from pruned)
    )
    select count(*)::integer as pruned from pruned`.execute(tx)
  return rows[0]?.pruned ?? 0
}

/**
 * Examines the next `max` events that were not counted yet, and deletes, `max` at most, the events of their nodes that are
 * more than `kept` numbers older.
 *
 * @returns whether there may be more to do.
 */
export async function pruneSurplus(tx: Db, { kept, max }: { kept: number; max: number }): Promise<boolean> {
  const { rows } = await sql<{ more: boolean }>`
    with fresh as (
      select seq, node_id, node_seq from event_log
      where seq > (select counted_seq from event_log_head where id = 1) order by seq limit ${max}
    ),
    floors as (select node_id, max(node_seq) - ${kept}::bigint as node_seq from fresh group by node_id),
    surplus as (
      select older.seq from floors cross join lateral (
        select seq from event_log
        where event_log.node_id = floors.node_id and event_log.node_seq <= floors.node_seq
        order by event_log.node_seq limit ${max}
      ) as older
      limit ${max}
    ),
    pruned as (delete from event_log using surplus where event_log.seq = surplus.seq returning event_log.seq),
    found as (
      select (select count(*) from pruned) = ${max} as is_full, (select max(seq) from pruned) as pruned_seq,
        (select max(seq) from fresh) as counted_seq, (select count(*) from fresh) = ${max} as has_more
    ),
    noted as (
      update event_log_head set pruned_seq = greatest(event_log_head.pruned_seq, found.pruned_seq),
        counted_seq = case when is_full then event_log_head.counted_seq else found.counted_seq end
      from found where id = 1 and found.counted_seq is not null
    )
    select is_full or has_more as more from found`.execute(tx)
  return rows[0]?.more === true
}
