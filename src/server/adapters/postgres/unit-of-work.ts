import { sql } from 'kysely'
import type { FeedChange } from '../../ports/change-feed.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { TraceMarks } from '../../ports/tracing.ts'
import type { Binding, TupleMirror } from '../../ports/tuple-mirror.ts'
import type { AuditEntry, Change, ChangeOptions, OutboxEvent, UnitOfWork } from '../../ports/unit-of-work.ts'
import type { FollowedFeed } from './change-feed.ts'
import { takeRevision, type PendingChange } from './revisions.ts'
import type { MirroredWrites } from './tuple-registry.ts'
import { createTupleWrites, type ValidateTuple } from './tuple-writes.ts'

interface UnitOfWorkDeps {
  readonly datastore: Datastore
  readonly feed: Pick<FollowedFeed, 'committed' | 'waitFor'>
  readonly clock: Clock
  readonly ids: IdSource
  readonly validateTuple: ValidateTuple
  /** The engine that has to be told of every tuple; absent where the engine follows the feed. */
  readonly mirror?: TupleMirror | undefined
  /** Hears of an audit row that could not be written: it goes to the error log and the failure counter. */
  readonly onAuditFailure: (error: unknown, entry: AuditEntry, trace: TraceMarks | undefined) => void
  /** Hears when a committed change was not seen by this replica in time; its lease has lapsed by then. */
  readonly onLateFeed: (error: unknown) => void
  /** Called after each commit that appended outbox rows. Default: nobody is told, polling finds them. */
  readonly onEmitted?: () => void
}

/** How long to wait after a commit for this replica's own change feed: twice the lease. */
const OWN_REVISION_DEADLINE_MS = 2_000

interface Outcome<T> {
  readonly result: T
  readonly changes: readonly FeedChange[]
  readonly hasEmitted: boolean
}

/** What the mirror has yet to be told. */
interface Unsettled {
  /** Bindings that this change wrote: to be settled once it is committed. */
  readonly written: Binding[]
  /** Bindings that an earlier change left unsettled and this one came upon: to be settled however it ends. */
  readonly met: Binding[]
}

async function writeOutbox(db: Db, events: readonly OutboxEvent[], meta: { correlationId: string; at: Date }) {
  if (events.length === 0) return
  const rows = events.map(({ event, domainId, aggregate, payload }) => ({
    event,
    domain_id: domainId,
    aggregate,
    payload: JSON.stringify(payload),
    correlation_id: meta.correlationId,
    occurred_at: meta.at,
    seq: null,
  }))
  await db.insertInto('outbox').values(rows).execute()
}

function mirroredBy(mirror: TupleMirror, { written, met }: Unsettled): MirroredWrites {
  return {
    begin: () => mirror.assertReachable(),
    onWritten: (binding) => void written.push(binding),
    onMet: (binding) => void met.push(binding),
  }
}

/** Runs changes with their outbox rows, audit row and tuple changes, all or nothing but for the audit row. */
export function createUnitOfWork(deps: UnitOfWorkDeps): UnitOfWork {
  const { datastore, feed, clock, ids, mirror } = deps

  async function writeAudit(db: Db, entry: AuditEntry): Promise<void> {
    await db
      .insertInto('audit')
      .values({
        id: ids.next(),
        at: new Date(clock.now()),
        domain_id: entry.domainId,
        subject: entry.subject,
        relation: entry.relation,
        object: entry.object,
        outcome: entry.outcome,
        reason: entry.reason,
        correlation_id: entry.correlationId,
        context: JSON.stringify(entry.context),
      })
      .execute()
  }

  /**
   * The savepoint keeps a refused audit row from aborting the change (S0 convention 7). That the row is missing is committed
   * with the change itself, for its chain to say.
   */
  async function auditUnderSavepoint(db: Db, { audit, trace }: ChangeOptions): Promise<void> {
    const entry = audit()
    if (entry === undefined) return
    await sql`savepoint audit`.execute(db)
    const refused = await orRolledBack(db, () => writeAudit(db, entry))
    if (refused === undefined) return
    const gap = { domain_id: entry.domainId, row_count: 1 }
    const unsaid = await orRolledBack(db, () => db.insertInto('audit_gaps').values(gap).execute())
    const errors = unsaid === undefined ? undefined : [refused.error, unsaid.error]
    deps.onAuditFailure(errors === undefined ? refused.error : new AggregateError(errors), entry, trace)
  }

  async function orRolledBack(db: Db, write: () => Promise<unknown>): Promise<{ readonly error: unknown } | undefined> {
    try {
      await write()
      return undefined
    } catch (error) {
      await sql`rollback to savepoint audit`.execute(db)
      return { error }
    }
  }

  /** Whoever changes tuples takes a revision, and waits here for the row that gives it. */
  async function settleTuples(tx: Db): Promise<void> {
    const head = tx.selectFrom('authz_head').select('revision').where('id', '=', 1).forUpdate()
    const { revision } = await head.executeTakeFirstOrThrow()
    await feed.waitFor(BigInt(revision), OWN_REVISION_DEADLINE_MS)
  }

  const run: UnitOfWork['run'] = async (options, work) => {
    let unsettled: Unsettled = { written: [], met: [] }
    const attempt = async (tx: Db): Promise<Outcome<Awaited<ReturnType<typeof work>>>> => {
      const at = new Date(clock.now())
      const events: OutboxEvent[] = []
      const pending: PendingChange[] = []
      unsettled = { written: [], met: [] }
      const change: Change = {
        db: tx,
        tuples: createTupleWrites({
          db: tx,
          now: at,
          validateTuple: deps.validateTuple,
          settle: () => settleTuples(tx),
          onChange: (kind, payload) => pending.push({ kind, payload }),
          mirrored: mirror && mirroredBy(mirror, unsettled),
        }),
        emit: (event) => void events.push(event),
        credentialChanged: (kind, id) => void pending.push({ kind: 'credential_changed', payload: { kind, id } }),
        domainChanged: (domainId) => void pending.push({ kind: 'domain_changed', payload: { domainId } }),
      }
      const result = await work(change)
      await writeOutbox(tx, events, { correlationId: options.correlationId, at })
      await auditUnderSavepoint(tx, options)
      return { result, changes: await takeRevision(tx, pending), hasEmitted: events.length > 0 }
    }
    const { result, changes, hasEmitted } = await datastore.transaction(options.pool, attempt).catch(async (error) => {
      await mirror?.settle(unsettled.met)
      throw error
    })
    if (hasEmitted) deps.onEmitted?.()
    await follow(changes)
    await mirror?.settle([...unsettled.written, ...unsettled.met])
    return result
  }

  /** The change is committed whatever happens here: a feed that lags has lost its lease, and its caches answer nothing. */
  async function follow(changes: readonly FeedChange[]): Promise<void> {
    const [first] = changes
    if (first === undefined) return
    feed.committed(changes)
    await feed.waitFor(first.revision, OWN_REVISION_DEADLINE_MS).catch(deps.onLateFeed)
  }

  return { run }
}
