import { Checker } from '../../../shared/authz/engine/checker.ts'
import { TupleIndex } from '../../../shared/authz/engine/tuple-index.ts'
import type { Model } from '../../../shared/authz/model.ts'
import type { FeedChange } from '../../ports/change-feed.ts'

/** Every tuple of one revision, and how many of them the schema does not have: those grant nothing. */
export interface LoadedTuples {
  readonly index: TupleIndex
  readonly checker: Checker
  unknownTuples: number
  /** The number of tuple changes that are not in the file. */
  unsavedChanges: number
}

export function noTuples(model: Model): LoadedTuples {
  const index = new TupleIndex(model)
  return { index, checker: new Checker(index), unknownTuples: 0, unsavedChanges: 0 }
}

export function applyChange(loaded: LoadedTuples, change: FeedChange): void {
  if (change.kind !== 'tuple_touched' && change.kind !== 'tuple_deleted') return
  const { index } = loaded
  const isTouch = change.kind === 'tuple_touched'
  const applied = isTouch ? index.touch(change.payload, Number(change.revision)) : index.remove(change.payload)
  if (applied === 'unknown') loaded.unknownTuples += isTouch ? 1 : -1
  if (applied === 'changed') loaded.unsavedChanges++
}
