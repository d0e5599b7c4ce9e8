import { TupleIndex } from '../../../shared/authz/engine/tuple-index.ts'
import type { Model } from '../../../shared/authz/model.ts'
import type { TupleColumns } from '../../../shared/authz/tuple.ts'
import type { ChangeFeed } from '../../ports/change-feed.ts'
import type { Db } from '../../ports/datastore.ts'

const CHUNK_ROWS = 5_000

/**
 * Follows the tuples of the registry whose subject is a set, for the rules against cycles and deep nesting. There are
 * few. The index is undefined until the feed has loaded it. Subscribe before the feed is started.
 */
export function followNesting(model: Model, changeFeed: ChangeFeed): () => TupleIndex | undefined {
  let index: TupleIndex | undefined
  changeFeed.subscribe(
    (change) => {
      if (change.kind !== 'tuple_touched' && change.kind !== 'tuple_deleted') return
      if (change.payload.subject_relation === '') return
      if (change.kind === 'tuple_touched') index?.touch(change.payload, Number(change.revision))
      else index?.remove(change.payload)
    },
    async (snapshot) => {
      const loaded = new TupleIndex(model)
      await loadUsersets(snapshot, (tuple) => void loaded.touch(tuple, 0))
      index = loaded
    },
  )
  return () => index
}

async function loadUsersets(snapshot: Db, take: (tuple: TupleColumns) => void): Promise<void> {
  for (let last: string | undefined; ;) {
    const page = snapshot
      .selectFrom('relation_tuples')
      .selectAll()
      .where('subject_relation', '<>', '')
      .orderBy('id')
      .limit(CHUNK_ROWS)
    const rows = await (last === undefined ? page : page.where('id', '>', last)).execute()
    for (const row of rows) take(row)
    last = rows.at(-1)?.id
    if (rows.length < CHUNK_ROWS) return
  }
}
