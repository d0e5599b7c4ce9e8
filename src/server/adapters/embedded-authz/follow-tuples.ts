import { AsyncResource } from 'node:async_hooks'
import type { TupleIndex } from '../../../shared/authz/engine/tuple-index.ts'
import type { Model } from '../../../shared/authz/model.ts'
import type { ChangeFeed } from '../../ports/change-feed.ts'
import type { Db } from '../../ports/datastore.ts'
import type { PersistedIndex } from './persisted-index.ts'
import { loadTuples } from './load-tuples.ts'
import { applyChange, noTuples, type LoadedTuples } from './loaded-tuples.ts'

export type { LoadedTuples }

/** The tuples as the feed delivers them. */
export interface FollowedTuples {
  /** Undefined until the feed has loaded them. */
  readonly current: () => LoadedTuples | undefined
  /** Writes them to the file when the changes would slow down the next start, or at the end of the run. */
  readonly keep: (when: 'often' | 'end') => Promise<void>
}

export interface Watching {
  /** Without it, no file is written. */
  readonly kept?: PersistedIndex | undefined
  /** Called whenever the index may have grown. */
  readonly onSize?: (index: TupleIndex) => void
}

/** Fewer tuples are read from the datastore quickly: no file is written for them. */
const KEPT_MIN = 5_000
/** Changes after which the file is rewritten while the server runs: this many, and a tenth of the tuples. */
const CHANGES_MIN = 20_000

/**
 * Keeps an index equal to the tuples in the datastore: reloaded completely when the feed requires it, updated by each change after that.
 * `kept` is used only at the start: a feed that lost its position must not return to an old one.
 */
export function followTuples(model: Model, changeFeed: ChangeFeed, watching: Watching): FollowedTuples {
  const { kept, onSize } = watching
  let current: LoadedTuples | undefined
  let last = Promise.resolve()
  let isKeeping = false

  async function load(snapshot: Db, revision: bigint): Promise<LoadedTuples> {
    const restored = current === undefined ? await kept?.restore(snapshot, revision) : undefined
    if (restored !== undefined) return restored
    const loaded = noTuples(model)
    await loadTuples(snapshot, (tuple, made) => {
      if (loaded.index.touch(tuple, made) === 'unknown') loaded.unknownTuples++
      loaded.unsavedChanges++
    })
    return loaded
  }

  function isDue({ index, unsavedChanges }: LoadedTuples, when: 'often' | 'end'): boolean {
    if (index.edges.size < KEPT_MIN) return false
    return unsavedChanges > (when === 'end' ? 0 : Math.max(CHANGES_MIN, index.edges.size / 10))
  }

  async function keepNow(when: 'often' | 'end'): Promise<void> {
    const revision = changeFeed.revision()
    if (kept === undefined || current === undefined || revision < 0n || !isDue(current, when)) return
    await kept.save(current, revision)
  }

  /** One after another: they write the same file. */
  function keep(when: 'often' | 'end'): Promise<void> {
    last = last.then(() => keepNow(when))
    return last
  }

  /** In the background, outside of the transaction whose change is being applied. */
  const keepOften = AsyncResource.bind(() => {
    if (isKeeping) return
    isKeeping = true
    void keep('often').finally(() => {
      isKeeping = false
    })
  })

  changeFeed.subscribe(
    (change) => {
      if (current === undefined) return
      applyChange(current, change)
      onSize?.(current.index)
      if (kept !== undefined && isDue(current, 'often')) keepOften()
    },
    async (snapshot, revision) => {
      current = await load(snapshot, revision)
      onSize?.(current.index)
    },
  )

  return { current: () => current, keep }
}
