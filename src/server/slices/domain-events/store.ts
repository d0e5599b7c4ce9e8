import { sql } from 'kysely'
import type { DomainEventPayload } from '../../../shared/events/domain-types.ts'
import type { Db } from '../../ports/datastore.ts'
import { LITERALS, typeOf } from './event-types.ts'
import type { DomainEvent } from './frames.ts'

/** What the outbox holds at one moment, as positions of the streams. */
export interface Bounds {
  /** The last position given to a row; 0 before the first. */
  readonly head: bigint
  /** The position of the oldest row that is kept; one above the head where none is. */
  readonly oldest: bigint
}

/**
 * Reads the bounds. A position is the number of an outbox row above a base, which a restore raises, so that positions of the time
 * that was undone are below everything that is kept.
 */
export async function readBounds(db: Db): Promise<Bounds> {
  const { rows } = await sql<{ head: string; oldest: string }>`
    select (seq + stream_base)::text as head,
      (coalesce((select min(seq) from outbox), seq + 1) + stream_base)::text as oldest
    from outbox_head where id = 1`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('the outbox has no head')
  return { head: BigInt(row.head), oldest: BigInt(row.oldest) }
}

/** A part of the outbox: positions above `after`, up to `upTo`. */
export interface Window {
  readonly after: bigint
  readonly upTo: bigint
}

/**
 * Reads the events of some Domains in a window, in order, at most `max` of each Domain. Of the payloads only ids and states leave
 * the datastore.
 */
export async function readEvents(
  db: Db,
  { domainIds, window, max }: { readonly domainIds: readonly string[]; readonly window: Window; readonly max: number },
): Promise<DomainEvent[]> {
  const { rows } = await sql<EventRow>`
    select * from (
      select (o.seq + head.stream_base)::text as position, o.event, o.domain_id, o.aggregate, o.occurred_at,
        o.payload->>'from' as was, o.payload->>'to' as became, o.payload->>'session_id' as session_id,
        o.payload->>'execution_id' as execution_id, o.payload->>'node_id' as node_id,
        row_number() over (partition by o.domain_id order by o.seq) as place, o.seq
      from outbox_head as head join outbox as o
        on o.seq > ${window.after}::bigint - head.stream_base and o.seq <= ${window.upTo}::bigint - head.stream_base
      where head.id = 1 and o.domain_id = any(${domainIds}::uuid[]) and o.event = any(${LITERALS}::text[])
    ) as found where place <= ${max} order by seq`.execute(db)
  return rows.flatMap(eventOf)
}

interface EventRow {
  readonly position: string
  readonly event: string
  readonly domain_id: string
  readonly aggregate: string
  readonly occurred_at: Date
  readonly was: string | null
  readonly became: string | null
  readonly session_id: string | null
  readonly execution_id: string | null
  readonly node_id: string | null
}

function eventOf(row: EventRow): DomainEvent[] {
  const type = typeOf(row.event)
  if (type === undefined) return []
  const { position, domain_id: domainId, occurred_at: occurredAt } = row
  return [{ seq: BigInt(position), domainId, type, occurredAt, payload: payloadOf(row) }]
}

function payloadOf({ event, aggregate, was, became, ...ids }: EventRow): DomainEventPayload {
  if (event === 'NodeReachabilityChanged') {
    // The literals of the event are those of the wire.
    return { object: aggregate, from: was, to: became } as DomainEventPayload
  }
  const { node_id, session_id, execution_id } = ids
  const part = session_id ?? execution_id
  if (part === null || node_id === null) return { object: aggregate }
  return { object: `node:${node_id}`, ...(session_id === null ? { execution_id: part } : { session_id }) }
}
