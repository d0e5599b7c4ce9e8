import { sql, type RawBuilder } from 'kysely'
import type { WireType } from '../../shared/events/wire-types.ts'
import { textLines } from '../../shared/text-lines.ts'
import type { IdSource } from '../ports/clock.ts'
import type { Db } from '../ports/datastore.ts'
import type { Template, Told } from './event-template.ts'

/** Up to where, and when, nodes have been told what changed, where the events are hints. */
export interface Hinted {
  readonly seq: bigint
  readonly at: Date
}

/**
 * Gives each event the next number of its node and puts it on its way, in the order given. An event of a node without a
 * lane is dropped. A caller that calls holds the relay's cursor, so that no other gives numbers.
 */
export async function addOutgoing(
  tx: Db,
  { ids, hinted }: { readonly ids: IdSource; readonly hinted?: Hinted },
  told: readonly Told[],
): Promise<void> {
  if (told.length === 0) return
  const places = placesOf(told)
  const templates = [...places.keys()]
  await sql`
    with told as (
      select * from unnest(
        ${told.map(({ nodeId }) => nodeId)}::uuid[],
        ${told.map(() => ids.next())}::uuid[],
        ${told.map(({ template }) => places.get(template) ?? 0)}::integer[]
      ) with ordinality as one (node_id, event_id, template, place)
    ), placed as (
      select told.*, lane.domain_id, lane.last_seq + row_number() over (partition by told.node_id order by place) as node_seq
      from told join node_lanes as lane on lane.node_id = told.node_id
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

/** Numbers templates from 1 on, each once. */
function placesOf(told: readonly Told[]): ReadonlyMap<Template, number> {
  const places = new Map<Template, number>()
  for (const { template } of told) if (!places.has(template)) places.set(template, places.size + 1)
  return places
}

/** An event on its way, with its number. */
export interface Outgoing {
  readonly id: string
  readonly nodeId: string
  readonly domainId: string
  readonly nodeSeq: bigint
  readonly eventId: string
  readonly type: WireType
  /** What its payload is made of. */
  readonly payload: string
  readonly occurredAt: Date
}

/** A signed event on its way: whatever it says is in its envelope. */
export type Signed = Omit<Outgoing, 'payload'> & { readonly wire: string }

/** Which of them to read: those whose lane is not held up by a failure newer than `triedBefore`. */
export interface Reading {
  /** Events of a page at most; fewer where their texts would be too large together. */
  readonly max: number
  readonly triedBefore: Date
}

/** Events in their order. */
export interface Page<Event> {
  readonly events: readonly Event[]
  /** Whether there are others behind them, or may be. */
  readonly isMore: boolean
}

/** Reads events that are not signed, oldest first; of a node only once what was signed before has left, if that is asked. */
export async function readUnsigned(
  db: Db,
  { afterSigned, ...reading }: Reading & { readonly afterSigned: boolean },
): Promise<Page<Outgoing>> {
  // Found once and not for each event, whatever the planner knows of the table: mostly it is empty.
  const isNext = sql`node_id <> all (array(select node_id from outgoing_events where wire is not null))`
  const stage = afterSigned ? sql`wire is null and ${isNext}` : sql`wire is null`
  const { rows, isMore } = await read(db, reading, { stage, text: sql.ref('payload') })
  return { events: rows.map((row) => ({ ...toOutgoing(row), payload: row.text })), isMore }
}

/** Reads events that are signed, oldest first: of each node those before which there is none that is not. */
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

/** Which events are read, and the one of their texts that the stage needs: a hint may be twenty kilobytes. */
interface Stage {
  readonly stage: RawBuilder<unknown>
  readonly text: RawBuilder<unknown>
}

/** Bytes of the texts that a page reads at most; one event may go beyond them, so that a large one is no obstacle. */
const PAGE_BYTES_MAX = 2 * 1024 * 1024

async function read(
  db: Db,
  { max, triedBefore }: Reading,
  { stage, text }: Stage,
): Promise<{ readonly rows: readonly Row[]; readonly isMore: boolean }> {
  // What holds lanes up is found once, and is little. A planner that last saw the table empty, as it mostly is, would look
  // for it in the whole table for each event; those are then thousands.
  const { rows } = await sql<Row & { readonly found: number }>`
    with held as materialized (
      select node_id, min(id) filter (where tried_at > ${triedBefore}) as resting, min(id) filter (where wire is null) as unsigned
      from outgoing_events where failure is not null group by node_id
    ), next as (
      select id, node_id, domain_id, node_seq, event_id, type, occurred_at, ${text} as text
      from outgoing_events as event
      where ${stage} and not exists (
        select from held where held.node_id = event.node_id
          and (event.id >= held.resting or (event.wire is not null and event.id > held.unsigned))
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
 * Keeps what was signed, once: an event that has its wire already keeps it. What the payload was made of is given up, since
 * all of it is in the envelope.
 */
export async function keepSigned(tx: Db, signed: readonly Pick<Signed, 'id' | 'wire'>[]): Promise<void> {
  if (signed.length === 0) return
  await sql`
    update outgoing_events set wire = signed.wire, payload = '', failure = null, tried_at = null
    from unnest(
      ${signed.map(({ id }) => id)}::bigint[],
      string_to_array(${textLines(signed.map(({ wire }) => wire))}::text, e'\n')
    ) as signed (id, wire)
    where outgoing_events.id = signed.id and outgoing_events.wire is null`.execute(tx)
}

/** An event that cannot go on, and why. */
export interface Failure {
  readonly id: string
  readonly nodeId: string
  readonly reason: string
}

/** Lets events hold up their lanes. */
export async function keepFailures(tx: Db, failures: readonly Failure[], at: Date): Promise<void> {
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
