import { IDENTIFYING_COLUMNS, type TupleColumns } from '../../../shared/authz/tuple.ts'
import type { Db } from '../../ports/datastore.ts'

/** Rows a query reads: small enough that the one session of the embedded store is not held for 200 ms. */
const CHUNK_ROWS = 5_000

const COLUMNS = [...IDENTIFYING_COLUMNS, 'domain_id', 'revision'] as const

/** Reads every tuple of a snapshot, in chunks, each with the revision that created it. */
export async function loadTuples(snapshot: Db, take: (tuple: TupleColumns, revision: number) => void): Promise<void> {
  for (let last: string | undefined; ;) {
    const page = snapshot
      .selectFrom('relation_tuples')
      .select(['id', ...COLUMNS])
      .orderBy('id')
      .limit(CHUNK_ROWS)
    const rows = await (last === undefined ? page : page.where('id', '>', last)).execute()
    for (const row of rows) take(row, Number(row.revision))
    last = rows.at(-1)?.id
    if (rows.length < CHUNK_ROWS) return
  }
}
