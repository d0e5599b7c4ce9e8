import type { Model } from '../../../shared/authz/model.ts'
import { Problem, problem } from '../../../shared/problems.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { FeedChange } from '../../ports/change-feed.ts'
import type { Binding, TupleMirror } from '../../ports/tuple-mirror.ts'
import type { FollowedFeed } from '../postgres/change-feed.ts'
import type { RelationshipEdit } from './client.ts'
import { bareRelationship, bindingKey, relationshipOf } from './names.ts'
import type { WatchedSpicedb } from './reachability.ts'
import { conclude, lockSettling, readBindings, wantedRows, type SettledRow } from './settle-store.ts'

export interface MirrorDeps {
  readonly model: Model
  readonly datastore: Datastore
  readonly spicedb: Pick<WatchedSpicedb, 'write' | 'assertReachable'>
  readonly feed: Pick<FollowedFeed, 'committed' | 'waitFor'>
}

/** Bindings in one call to SpiceDB; its default limit is a thousand. */
const BINDINGS_MAX = 500
/** How long to wait until this replica has applied the token of its own write: twice the lease. */
const OWN_REVISION_MS = 2_000

interface Caller {
  readonly bindings: readonly Binding[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Settles the bindings that changes wrote. While one pass is running, the bindings of the next one are collected. The
 * passes of all processes are serialized, so that the last write to SpiceDB matches the last state of the registry.
 */
export function createMirror(deps: MirrorDeps): TupleMirror {
  let waiting: Caller[] = []
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      const callers = waiting
      waiting = []
      const bindings = new Map(callers.flatMap((caller) => caller.bindings.map((each) => [bindingKey(each), each])))
      const failure = await settleAll(deps, [...bindings.values()]).then(() => undefined, unavailable)
      for (const { resolve, reject } of callers) {
        if (failure === undefined) resolve()
        else reject(failure)
      }
    }
    isRunning = false
  }

  return {
    assertReachable: () => deps.spicedb.assertReachable(),
    settle(bindings) {
      if (bindings.length === 0) return Promise.resolve()
      return new Promise((resolve, reject) => {
        waiting.push({ bindings, resolve, reject })
        if (!isRunning) void run()
      })
    },
  }
}

/** The problem for a failure of SpiceDB or of the registry. Whether the change took effect is unknown. */
const unavailable = (error: unknown): unknown =>
  error instanceof Problem ? error : problem('authz_unavailable', {}, error)

async function settleAll(deps: MirrorDeps, bindings: readonly Binding[]): Promise<void> {
  for (let from = 0; from < bindings.length; from += BINDINGS_MAX) {
    const changes = await settleSome(deps, bindings.slice(from, from + BINDINGS_MAX))
    deps.feed.committed(changes)
    const [first] = changes
    if (first !== undefined) await deps.feed.waitFor(first.revision, OWN_REVISION_MS)
  }
}

/**
 * On the embedded store this process is the only one. Its single session must not wait for SpiceDB, so no lock is held.
 */
async function settleSome(deps: MirrorDeps, bindings: readonly Binding[]): Promise<readonly FeedChange[]> {
  const { datastore, model, spicedb } = deps
  const send = async (rows: readonly SettledRow[]): Promise<string | undefined> => {
    const edits = editsOf(model, bindings, rows)
    return edits.length === 0 ? undefined : spicedb.write(edits)
  }
  if (datastore.kind === 'embedded') {
    const rows = await readBindings(datastore.pool('worker'), bindings)
    const zedToken = await send(rows)
    return datastore.transaction('worker', (tx) => conclude(tx, { rows, zedToken }))
  }
  return datastore.transaction('worker', async (tx: Db) => {
    await lockSettling(tx)
    const rows = await readBindings(tx, bindings)
    return conclude(tx, { rows, zedToken: await send(rows) })
  })
}

/** The edits that give SpiceDB the wanted tuple of each binding, whatever it has now. */
function editsOf(model: Model, bindings: readonly Binding[], rows: readonly SettledRow[]): RelationshipEdit[] {
  const wanted = wantedRows(rows)
  return bindings.flatMap((binding): RelationshipEdit[] => {
    const row = wanted.get(bindingKey(binding))
    const relationship = row === undefined ? bareRelationship(model, binding) : relationshipOf(model, row)
    return relationship === undefined ? [] : [{ op: row === undefined ? 'delete' : 'touch', relationship }]
  })
}
