import { sql, type RawBuilder } from 'kysely'
import type { FeedChange } from '../../ports/change-feed.ts'
import type { Db } from '../../ports/datastore.ts'
import type { OutboxEvent } from '../../ports/outbox-events.ts'
import type { AuditEntry } from '../../ports/unit-of-work.ts'
import { translateError } from './errors.ts'

/** A change before its revision is known. */
export type PendingChange = FeedChange extends infer C ? (C extends FeedChange ? Omit<C, 'revision'> : never) : never

interface AuditRow {
  readonly entry: AuditEntry
  readonly id: string
  readonly atMs: number
}

/** The rows that a transaction adds at its end. */
export interface CommitRecords {
  /** In the order in which they were emitted. */
  readonly events: readonly OutboxEvent[]
  readonly correlationId: string
  readonly at: Date
  readonly audit: readonly AuditRow[]
  /** The changes for the replicas, under one revision. */
  readonly pending: readonly PendingChange[]
}

export interface WrittenRecords {
  /** The pending changes, numbered. */
  readonly changes: readonly FeedChange[]
  /** The audit rows that are missing. */
  readonly refusals: readonly RefusedAudit[]
}

interface RefusedAudit {
  readonly entry: AuditEntry
  /** Why the row is missing and, if that failed too, why its chain has no note of the gap. */
  readonly errors: readonly unknown[]
}

/**
 * Writes outbox rows, audit rows and the revision in one statement, to save round trips. Must be the last statement:
 * the row of the head stays locked until the commit, and every other change waits for it. A refused audit row does not
 * affect the change: `write_audit` undoes only that row (S0 convention 7).
 */
export async function writeCommitRecords(db: Db, records: CommitRecords): Promise<WrittenRecords> {
  const { pending } = records
  const { rows } = await commitStatement(records).execute(db)
  const { revision = null, refusals = null } = rows[0] ?? {}
  if (pending.length > 0 && revision === null) throw new Error('authz_head has no row')
  return {
    changes: pending.map((change) => ({ ...change, revision: BigInt(revision ?? 0) })),
    refusals: refusedAudits(records.audit, refusals ?? []),
  }
}

/** Assigns a revision to the transaction and records its changes under it. Must be the last statement. */
export async function takeRevision(db: Db, pending: readonly PendingChange[]): Promise<readonly FeedChange[]> {
  if (pending.length === 0) return []
  const { changes } = await writeCommitRecords(db, {
    events: [],
    correlationId: '',
    at: new Date(0),
    audit: [],
    pending,
  })
  return changes
}

/** Each list is one JSON text: binding every value would cost this process several times as much. */
function commitStatement({ events, correlationId, at, audit, pending }: CommitRecords): RawBuilder<WrittenRow> {
  const touched = pending.flatMap((change) => (change.kind === 'tuple_touched' ? [change.payload.id] : []))
  const zedToken = pending.findLast((change) => change.kind === 'tuples_settled')?.payload.zedToken ?? null
  return sql`
    with emitted as (
      insert into outbox (event, domain_id, aggregate, payload, correlation_id, occurred_at)
      select event, domain, aggregate, payload, coalesce(correlation, ${correlationId}::text), ${at}::timestamptz
      from json_to_recordset(${eventsText(events)}::json)
        as said (event text, domain uuid, aggregate text, payload jsonb, correlation text)
    ),
    audited as materialized (
      select json_agg(write_audit(entry, (${audit.map(({ entry }) => entry.domainId)}::text[])[place]) order by place) as refusals
      from json_array_elements(${auditText(audit)}::json) with ordinality as said (entry, place)
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

interface WrittenRow {
  /** The refusals of each audit row, in their order; null for a written row. */
  readonly refusals: readonly (readonly RefusedRow[] | null)[] | null
  readonly revision: string | null
}

/** An error as the datastore reported it: a SQLSTATE, its message, and the constraint where there was one. */
interface RefusedRow {
  readonly code: string
  readonly message: string
  readonly constraint: string | null
}

function refusedAudits(rows: readonly AuditRow[], refusals: readonly (readonly RefusedRow[] | null)[]): RefusedAudit[] {
  return rows.flatMap(({ entry }, at) => {
    const errors = refusals[at] ?? []
    return errors.length === 0 ? [] : [{ entry, errors: errors.map(errorOf) }]
  })
}

function errorOf({ code, message, constraint }: RefusedRow): unknown {
  return translateError(Object.assign(new Error(message), { code, constraint }))
}

function eventsText(events: readonly OutboxEvent[]): string {
  return JSON.stringify(
    events.map(({ event, domainId: domain, aggregate, payload, correlationId: correlation }) => ({
      event,
      domain,
      aggregate,
      payload,
      correlation,
    })),
  )
}

/** The columns of each row except its Domain; the instant in ms. */
function auditText(rows: readonly AuditRow[]): string {
  return JSON.stringify(
    rows.map(({ entry, id, atMs: at_ms }) => {
      const { subject, relation, object, outcome, reason, correlationId: correlation_id, context } = entry
      return { id, at_ms, subject, relation, object, outcome, reason, correlation_id, context }
    }),
  )
}

/** Whether SpiceDB may lack it: the process that wrote the tuple does not use SpiceDB. */
function isUnmirrored(change: PendingChange): boolean {
  const isTuple = change.kind === 'tuple_touched' || change.kind === 'tuple_deleted'
  return isTuple && change.payload.mirrored !== true
}
