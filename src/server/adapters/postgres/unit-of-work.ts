import type { FeedChange } from '../../ports/change-feed.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { OutboxEvent } from '../../ports/outbox-events.ts'
import type { TraceMarks } from '../../ports/tracing.ts'
import type { Binding, TupleMirror } from '../../ports/tuple-mirror.ts'
import type { AuditEntry, Change, ChangeAuditEntry, ChangeOptions, UnitOfWork } from '../../ports/unit-of-work.ts'
import type { FollowedFeed } from './change-feed.ts'
import { writeCommitRecords, type CommitRecords, type PendingChange } from './commit-records.ts'
import type { MirroredWrites } from './tuple-registry.ts'
import { createTupleWrites, type ValidateTuple } from './tuple-writes.ts'

interface UnitOfWorkDeps {
  readonly datastore: Datastore
  readonly feed: Pick<FollowedFeed, 'committed' | 'waitFor'>
  readonly clock: Clock
  readonly ids: IdSource
  readonly validateTuple: ValidateTuple
  /** The engine that must receive every tuple; absent where the engine follows the feed. */
  readonly mirror?: TupleMirror | undefined
  /** Called with an audit row that could not be written: for the error log and the failure counter. */
  readonly onAuditFailure: (error: unknown, entry: AuditEntry, trace: TraceMarks | undefined) => void
  /** Called when this replica did not apply a committed change in time; its lease has lapsed by then. */
  readonly onLateFeed: (error: unknown) => void
  /** Called after each commit that appended outbox rows. Default: nothing is called, polling finds them. */
  readonly onEmitted?: () => void
}

/** How long to wait after a commit for this replica's own change feed: twice the lease. */
const OWN_REVISION_DEADLINE_MS = 2_000

/** The records of a change besides the audit rows of its requests. */
interface PendingRecords extends Pick<CommitRecords, 'events' | 'at' | 'pending'> {
  /** Rows that the change itself adds. */
  readonly entries: readonly ChangeAuditEntry[]
}

interface Outcome<T> {
  readonly result: T
  readonly changes: readonly FeedChange[]
  readonly hasEmitted: boolean
}

/** Bindings that the mirror must still send. */
interface Unsettled {
  /** Bindings that this change wrote: to be settled once it is committed. */
  readonly written: Binding[]
  /** Bindings that an earlier change left unsettled and this one found: settled whether this change commits or not. */
  readonly met: Binding[]
}

function mirroredBy(mirror: TupleMirror, { written, met }: Unsettled): MirroredWrites {
  return {
    begin: () => mirror.assertReachable(),
    onWritten: (binding) => void written.push(binding),
    onMet: (binding) => void met.push(binding),
  }
}

/**
 * Runs changes with their outbox rows, audit rows and tuple changes. All commit together, except that a failed audit
 * row does not undo the change.
 */
export function createUnitOfWork(deps: UnitOfWorkDeps): UnitOfWork {
  const { datastore, feed, clock, ids, mirror } = deps

  /** Writes the records of a change. A change without records needs no statement. */
  async function writeRecords(
    tx: Db,
    { entries: added, ...records }: PendingRecords,
    { audit, correlationId, trace }: ChangeOptions,
  ) {
    const entries = [...(audit?.() ?? []), ...added.map((entry) => ({ ...entry, correlationId }))]
    if (entries.length === 0 && records.events.length === 0 && records.pending.length === 0) return []
    const rows = entries.map((entry) => ({ entry, id: ids.next(), atMs: clock.now() }))
    const { changes, refusals } = await writeCommitRecords(tx, { ...records, correlationId, audit: rows })
    for (const { entry, errors } of refusals)
      deps.onAuditFailure(errors.length === 1 ? errors[0] : new AggregateError(errors), entry, trace)
    return changes
  }

  /** Every change of tuples locks this row to take its revision, so it waits here. */
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
      const entries: ChangeAuditEntry[] = []
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
        audit: (entry) => void entries.push(entry),
        credentialChanged: (kind, id) => void pending.push({ kind: 'credential_changed', payload: { kind, id } }),
        domainChanged: (domainId) => void pending.push({ kind: 'domain_changed', payload: { domainId } }),
      }
      const result = await work(change)
      const changes = await writeRecords(tx, { events, at, pending, entries }, options)
      return { result, changes, hasEmitted: events.length > 0 }
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

  /** The change stays committed if this fails: a feed that lags has lost its lease, so its caches are not used. */
  async function follow(changes: readonly FeedChange[]): Promise<void> {
    const [first] = changes
    if (first === undefined) return
    feed.committed(changes)
    await feed.waitFor(first.revision, OWN_REVISION_DEADLINE_MS).catch(deps.onLateFeed)
  }

  return { run }
}
