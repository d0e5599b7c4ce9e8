import { sql, type RawBuilder } from 'kysely'
import type { FeedChange } from '../../ports/change-feed.ts'
import type { Db } from '../../ports/datastore.ts'
import type { AuditEntry, OutboxEvent } from '../../ports/unit-of-work.ts'
import { translateError } from './errors.ts'

/** A change before its revision is known. */
export type PendingChange = FeedChange extends infer C ? (C extends FeedChange ? Omit<C, 'revision'> : never) : never

/** What a transaction says at its end, beside its own rows. */
export interface Closing {
  /** In the order in which they were emitted. */
  readonly events: readonly OutboxEvent[]
  readonly correlationId: string
  readonly at: Date
  readonly audit: { readonly entry: AuditEntry; readonly id: string; readonly atMs: number } | undefined
  /** What replicas are to follow, under one revision. */
  readonly pending: readonly PendingChange[]
}

export interface Closed {
  /** What was pending, numbered. */
  readonly changes: readonly FeedChange[]
  /** Why the audit row is missing, and then, where that failed too, why its chain is not told; empty where it was written. */
  readonly refusals: readonly unknown[]
}

/**
 * Writes outbox rows, audit row and revision, all in one statement: each of its own would be another round trip of every
 * change. The last statement, because the head's row lock is held until the commit and every other change waits for it.
 * A refused audit row costs the change nothing: `write_audit` undoes it alone (S0 convention 7).
 */
export async function close(db: Db, closing: Closing): Promise<Closed> {
  const { pending } = closing
  const { rows } = await closeStatement(closing).execute(db)
  const { revision = null, refusals } = rows[0] ?? {}
  if (pending.length > 0 && revision === null) throw new Error('authz_head has no row')
  return {
    changes: pending.map((change) => ({ ...change, revision: BigInt(revision ?? 0) })),
    refusals: (refusals ?? []).map(errorOf),
  }
}

/** Numbers the transaction and records what it changed under that number, and nothing else. To be its last statement. */
export async function takeRevision(db: Db, pending: readonly PendingChange[]): Promise<readonly FeedChange[]> {
  if (pending.length === 0) return []
  const { changes } = await close(db, { events: [], correlationId: '', at: new Date(0), audit: undefined, pending })
  return changes
}

/** Lists go as one JSON text each: binding and escaping every value would cost this process several times as much. */
function closeStatement({ events, correlationId, at, audit, pending }: Closing): RawBuilder<ClosedRow> {
  const touched = pending.flatMap((change) => (change.kind === 'tuple_touched' ? [change.payload.id] : []))
  const zedToken = pending.findLast((change) => change.kind === 'tuples_settled')?.payload.zedToken ?? null
  return sql`
    with emitted as (
      insert into outbox (event, domain_id, aggregate, payload, correlation_id, occurred_at)
      select event, domain, aggregate, payload, ${correlationId}::text, ${at}::timestamptz
      from json_to_recordset(${eventsText(events)}::json) as said (event text, domain uuid, aggregate text, payload jsonb)
    ),
    audited as materialized (
      select write_audit(${audit === undefined ? null : auditText(audit)}::json, ${audit?.entry.domainId ?? null}::text) as refusals
    ),
    head as (
      update authz_head set
        revision = revision + 1,
        zed_token = coalesce(${zedToken}::text, zed_token),
        unmirrored_revision = case when ${pending.some(isUnmirrored)}::boolean then revision + 1 else unmirrored_revision end
      from audited
      where id = 1 and ${pending.length > 0}::boolean
      returning revision
    ),
    stamped as (
      update relation_tuples set revision = head.revision from head where relation_tuples.id = any(${touched}::uuid[])
    ),
    changed as (
      insert into authz_changes (revision, ordinal, kind, payload)
      select head.revision, change.ordinal, change.entry ->> 'kind', (change.entry -> 'payload')::jsonb
      from head, json_array_elements(${JSON.stringify(pending)}::json) with ordinality as change (entry, ordinal)
    )
    select (select refusals from audited) as refusals, (select revision from head) as revision`
}

interface ClosedRow {
  readonly refusals: readonly RefusedRow[] | null
  readonly revision: string | null
}

/** An error as the datastore told it: a SQLSTATE, its sentence, and the constraint where there was one. */
interface RefusedRow {
  readonly code: string
  readonly message: string
  readonly constraint: string | null
}

function errorOf({ code, message, constraint }: RefusedRow): unknown {
  return translateError(Object.assign(new Error(message), { code, constraint }))
}

function eventsText(events: readonly OutboxEvent[]): string {
  return JSON.stringify(
    events.map(({ event, domainId: domain, aggregate, payload }) => ({ event, domain, aggregate, payload })),
  )
}

/** What the row is made of but for its Domain, by its columns; the instant in ms. */
function auditText({ entry, id, atMs: at_ms }: NonNullable<Closing['audit']>): string {
  const { subject, relation, object, outcome, reason, correlationId: correlation_id, context } = entry
  return JSON.stringify({ id, at_ms, subject, relation, object, outcome, reason, correlation_id, context })
}

/** Whether SpiceDB may miss it: a tuple written by a process that knows of none. */
function isUnmirrored(change: PendingChange): boolean {
  const isTuple = change.kind === 'tuple_touched' || change.kind === 'tuple_deleted'
  return isTuple && change.payload.mirrored !== true
}
