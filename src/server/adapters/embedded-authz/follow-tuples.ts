import { Checker } from '../../../shared/authz/engine/checker.ts'
import { TupleIndex } from '../../../shared/authz/engine/tuple-index.ts'
import type { Model } from '../../../shared/authz/model.ts'
import type { TupleColumns } from '../../../shared/authz/tuple.ts'
import type { ChangeFeed } from '../../ports/change-feed.ts'
import { loadTuples } from './load-tuples.ts'

/** Every tuple of one revision, and how many of them the schema does not have: those grant nothing. */
export interface LoadedTuples {
  readonly index: TupleIndex
  readonly checker: Checker
  unknownTuples: number
}

/** Gives the tuples as the feed has brought them; undefined until it has loaded them. */
export type CurrentTuples = () => LoadedTuples | undefined

/** Keeps an index equal to the tuples in the datastore: read whole when the feed says so, changed by each change after that. */
export function followTuples(model: Model, changeFeed: ChangeFeed): CurrentTuples {
  let current: LoadedTuples | undefined
  changeFeed.subscribe(
    (change) => {
      if (current === undefined) return
      if (change.kind === 'tuple_touched') touch(current, change.payload, Number(change.revision))
      if (change.kind === 'tuple_deleted') current.index.remove(change.payload)
    },
    async (snapshot) => {
      const index = new TupleIndex(model)
      const loaded = { index, checker: new Checker(index), unknownTuples: 0 }
      await loadTuples(snapshot, (tuple, revision) => touch(loaded, tuple, revision))
      current = loaded
    },
  )
  return () => current
}

function touch(loaded: LoadedTuples, tuple: TupleColumns, revision: number): void {
  if (loaded.index.touch(tuple, revision) === 'unknown') loaded.unknownTuples++
}
