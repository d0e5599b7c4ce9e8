import { sql, type RawBuilder } from 'kysely'
import type { WireType } from '../../shared/events/wire-types.ts'
import { textLines } from '../../shared/text-lines.ts'
import type { IdSource } from '../ports/clock.ts'
import type { Db } from '../ports/datastore.ts'
import type { Template, NodeEvent } from './event-template.ts'

/** For hints: the outbox row up to which they cover changes, and their time. */
export interface Hinted {
  readonly seq: bigint
  readonly at: Date
}

/**
 * Numbers each event within its node and enqueues it, in the given order. Drops events of nodes without a lane. The caller
 * must hold the lock of the relay's cursor, because two transactions could give the same number.
 */
export async function addOutgoing(
  tx: Db,
  { ids, hinted }: { readonly ids: IdSource; readonly hinted?: Hinted },
  nodeEvents: readonly NodeEvent[],
): Promise<void> {
  if (nodeEvents.length === 0) return
  const places = numberTemplates(nodeEvents)
  const templates = [...places.keys()]
  await sql`
    with added as (
      select * from unnest(
        ${nodeEvents.map(({ nodeId }) => nodeId)}::uuid[],
        ${nodeEvents.map(() => ids.next())}::uuid[],
        ${nodeEvents.map(({ template }) => places.get(template) ?? 0)}::integer[]
      ) with ordinality as one (node_id, event_id, template, place)
    ), placed as (
      select added.*, lane.domain_id, lane.last_seq + row_number() over (partition by added.node_id order by place) as node_seq
      from added join node_lanes as lane on lane.node_id = added.node_id
    ), moved as (
      update node_lanes set last_seq = newest.node_seq,
        hinted_seq = coalesce(${hinted?.seq.toString() ?? null}::bigint, hinted_seq),
        hinted_at = coalesce(${hinted?.at ?? null}::timestamptz, hinted_at)
      from (select node_id, max(node_seq) as node_seq from placed group by node_id) as newest
      where node_lanes.node_id = newest.node_id
    )
    insert into outgoing_events (node_id, domain_id, node_seq, event_id, type, payload, occurred_at, committed_at)
    select placed.node_id, placed.domain_id, placed.node_seq, placed.event_id, template.type,
      template.before || coalesce(placed.node_id::text || template.after, ''), template.at, template.at
    from placed join unnest(
      ${templates.map(({ type }) => type)}::text[],
      ${templates.map(({ before }) => before)}::text[],
      ${templates.map(({ after }) => after ?? null)}::text[],
      ${templates.map(({ occurredAt }) => occurredAt.toISOString())}::timestamptz[]
    ) with ordinality as template (type, before, after, at, number) on template.number = placed.template
    order by placed.place`.execute(tx)
}

/** Numbers the distinct templates from 1. */
function numberTemplates(nodeEvents: readonly NodeEvent[]): ReadonlyMap<Template, number> {
  const places = new Map<Template, number>()
  for (const { template } of nodeEvents) if (!places.has(template)) places.set(template, places.size + 1)
  return places
}

/** A numbered event that the stream has not stored yet. */
export interface Outgoing {
  readonly id: string
  readonly nodeId: string
  readonly domainId: string
  readonly nodeSeq: bigint
  readonly eventId: string
  readonly type: WireType
  /** The source of its payload: signing renders what the node receives. */
  readonly payload: string
  readonly occurredAt: Date
}

/** A signed outgoing event. Its envelope contains the payload. */
export type Signed = Omit<Outgoing, 'payload'> & { readonly wire: string }

/** Bounds of a read. Skips lanes that are blocked by a failure newer than `triedBefore`. */
export interface Reading {
  /** Maximum number of events per page; fewer if their texts exceed the byte limit. */
  readonly max: number
  readonly triedBefore: Date
}

/** Events, oldest first. */
export interface Page<Event> {
  readonly events: readonly Event[]
  /** Whether there may be more. */
  readonly isMore: boolean
}

/** Reads unsigned events, oldest first. `afterSigned`: skips nodes that still have a signed event to publish. */
export async function readUnsigned(
  db: Db,
  { afterSigned, ...reading }: Reading & { readonly afterSigned: boolean },
): Promise<Page<Outgoing>> {
  // An array, so that PostgreSQL computes it once and not per event: its statistics usually show an empty table.
  const isNext = sql`node_id <> all (array(select node_id from outgoing_events where wire is not null))`
  const stage = afterSigned ? sql`wire is null and ${isNext}` : sql`wire is null`
  const { rows, isMore } = await read(db, reading, { stage, text: sql.ref('payload') })
  return { events: rows.map((row) => ({ ...toOutgoing(row), payload: row.text })), isMore }
}

/** Reads signed events, oldest first, up to the first failed unsigned event of each node. */
export async function readSigned(db: Db, reading: Reading): Promise<Page<Signed>> {
  const { rows, isMore } = await read(db, reading, { stage: sql`wire is not null`, text: sql.ref('wire') })
  return { events: rows.map((row) => ({ ...toOutgoing(row), wire: row.text })), isMore }
}

interface Row {
  readonly id: string
  readonly node_id: string
  readonly domain_id: string
  readonly node_seq: string
  readonly event_id: string
  readonly type: WireType
  readonly occurred_at: Date
  readonly text: string
}

/** Which events are read, and which text. Only one text is read, because a hint may have 20 KB. */
interface Stage {
  readonly stage: RawBuilder<unknown>
  readonly text: RawBuilder<unknown>
}

/** Maximum bytes of the texts of a page. The first event may exceed it, so that a large event cannot block the queue. */
const PAGE_BYTES_MAX = 2 * 1024 * 1024

async function read(
  db: Db,
  { max, triedBefore }: Reading,
  { stage, text }: Stage,
): Promise<{ readonly rows: readonly Row[]; readonly isMore: boolean }> {
  // Materialized: failed events are few, and are found once. With statistics of an empty table the planner would scan the
  // whole table again for each of thousands of events.
  const { rows } = await sql<Row & { readonly found: number }>`
    with blocked as materialized (
      select node_id, min(id) filter (where tried_at > ${triedBefore}) as resting, min(id) filter (where wire is null) as unsigned
      from outgoing_events where failure is not null group by node_id
    ), next as (
      select id, node_id, domain_id, node_seq, event_id, type, occurred_at, ${text} as text
      from outgoing_events as event
      where ${stage} and not exists (
        select from blocked where blocked.node_id = event.node_id
          and (event.id >= blocked.resting or (event.wire is not null and event.id > blocked.unsigned))
      )
      order by id limit ${max}
    ), measured as (
      select next.*, count(*) over ()::integer as found,
        sum(octet_length(text)) over (order by id) - octet_length(text) as before
      from next
    )
    select * from measured where before < ${PAGE_BYTES_MAX} order by id`.execute(db)
  const found = rows[0]?.found ?? 0
  return { rows, isMore: found === max || rows.length < found }
}

function toOutgoing(row: Row): Omit<Outgoing, 'payload'> {
  return {
    id: row.id,
    nodeId: row.node_id,
    domainId: row.domain_id,
    nodeSeq: BigInt(row.node_seq),
    eventId: row.event_id,
    type: row.type,
    occurredAt: row.occurred_at,
  }
}

/**
 * Stores signed envelopes and clears the payloads, which they contain. An event that is signed already keeps its
 * envelope.
 */
export async function storeSigned(tx: Db, signed: readonly Pick<Signed, 'id' | 'wire'>[]): Promise<void> {
  if (signed.length === 0) return
  await sql`
    update outgoing_events set wire = signed.wire, payload = '', failure = null, tried_at = null
    from unnest(
      ${signed.map(({ id }) => id)}::bigint[],
      string_to_array(${textLines(signed.map(({ wire }) => wire))}::text, e'\n')
    ) as signed (id, wire)
    where outgoing_events.id = signed.id and outgoing_events.wire is null`.execute(tx)
}

/** An event that failed, and why. */
export interface Failure {
  readonly id: string
  readonly nodeId: string
  readonly reason: string
}

/** Records failures. A failed event blocks the later events of its node. */
export async function storeFailures(tx: Db, failures: readonly Failure[], at: Date): Promise<void> {
  if (failures.length === 0) return
  await sql`
    update outgoing_events set failure = failed.reason, tried_at = ${at}
    from unnest(
      ${failures.map(({ id }) => id)}::bigint[],
      ${failures.map(({ reason }) => reason)}::text[]
    ) as failed (id, reason)
    where outgoing_events.id = failed.id`.execute(tx)
}

export async function deleteOutgoing(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await sql`delete from outgoing_events where id = any(${ids}::bigint[])`.execute(tx)
}
