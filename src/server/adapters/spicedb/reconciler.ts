import type { Model } from '../../../shared/authz/model.ts'
import type { AuthzReconciler, Reconciliation } from '../../ports/authz-reconciler.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Binding, TupleMirror } from '../../ports/tuple-mirror.ts'
import type { Spicedb } from './client.ts'
import type { Relationship } from './messages.ts'
import { bindingKey, bindingOf } from './names.ts'
import {
  readBindings,
  readTuples,
  readUnmirrored,
  readUnsettled,
  setMirrored,
  wantedRows,
  type SettledRow,
} from './settle-store.ts'

export interface ReconcilerDeps {
  readonly model: Model
  readonly datastore: Datastore
  readonly spicedb: Pick<Spicedb, 'relationships'>
  readonly mirror: Pick<TupleMirror, 'settle'>
}

/** Tuples that are compared in one batch. */
const CHUNK = 500

type Counts = { -readonly [K in keyof Reconciliation]: Reconciliation[K] }

/**
 * Compares the registry with SpiceDB. Differences are settled like changes, with the state of the registry at that
 * moment: other changes may run meanwhile.
 */
export function createReconciler({ model, datastore, spicedb, mirror }: ReconcilerDeps): AuthzReconciler {
  const db = () => datastore.pool('worker')

  /** Settles tuples that a crash left unsettled. */
  async function finish(counts: Counts): Promise<void> {
    for (let isMore = true; isMore;) {
      const rows = await readUnsettled(db(), CHUNK)
      await mirror.settle(rows)
      counts.granted += rows.filter(({ state }) => state === 'pending').length
      counts.revoked += rows.filter(({ state }) => state === 'revoking').length
      isMore = rows.length === CHUNK
    }
  }

  /**
   * Deletes relationships from SpiceDB that the registry does not have. Resolves with all that SpiceDB had of the type.
   */
  async function takeStrangers(type: string, counts: Counts): Promise<Set<string>> {
    const there = new Set<string>()
    for await (const page of spicedb.relationships(type)) {
      counts.checked += page.length
      const bindings = page.map((each) => bindingOf(model, each)).filter((each) => each !== undefined)
      counts.unresolved += page.length - bindings.length
      for (const each of page) there.add(factOf(model, each))
      const wanted = wantedRows(await readBindings(db(), bindings))
      const strangers = bindings.filter((binding) => !wanted.has(bindingKey(binding)))
      await mirror.settle(strangers)
      counts.revoked += strangers.length
    }
    return there
  }

  /** Writes the tuples of the type that SpiceDB lacks. */
  async function giveMissing(type: string, there: ReadonlySet<string>, counts: Counts): Promise<void> {
    for (let last: string | undefined; ;) {
      const rows = await readTuples(db(), { type, last, count: CHUNK })
      const unlike = rows.filter((row) => row.state === 'live' && !there.has(fact(row, row.caveat_name)))
      counts.checked += unlike.length
      if (unlike.length > 0) await giveWanted(unlike, there, counts)
      last = rows.at(-1)?.id
      if (rows.length < CHUNK) return
    }
  }

  /** A tuple that SpiceDB lacks may be superseded by another of its binding. */
  async function giveWanted(unlike: readonly SettledRow[], there: ReadonlySet<string>, counts: Counts): Promise<void> {
    const wanted = wantedRows(await readBindings(db(), unlike))
    const missing: Binding[] = []
    for (const row of unlike) {
      const first = wanted.get(bindingKey(row))
      if (first === undefined) continue
      if (!there.has(fact(first, first.caveat_name))) missing.push(row)
      if (first.id === row.id) counts.granted += 1
      else if (first.caveat_name !== '') counts.unresolved += 1
    }
    await mirror.settle(missing)
  }

  return {
    async reconcile() {
      const counts: Counts = { checked: 0, granted: 0, revoked: 0, unresolved: 0 }
      const unmirrored = await readUnmirrored(db())
      await finish(counts)
      for (const { name } of model.types) {
        const there = await takeStrangers(name, counts)
        await giveMissing(name, there, counts)
      }
      if (unmirrored !== null) await setMirrored(db(), unmirrored)
      return counts
    },
  }
}

/** The identity of a relationship in SpiceDB: a binding under one caveat. */
const fact = (binding: Binding, caveat: string): string => `${bindingKey(binding)}[${caveat}]`

function factOf(model: Model, relationship: Relationship): string {
  const binding = bindingOf(model, relationship)
  return binding === undefined ? '' : fact(binding, relationship.caveat)
}
