import { sql, type RawBuilder } from 'kysely'
import { createGatheredReads } from '../../../shared/batch-loader.ts'
import { storedKind, type LabelKind, type StoredLabelKind } from '../../../shared/labels/label-kinds.ts'
import type { Db } from '../../ports/datastore.ts'

/** Where the name of an object is. */
const NAMES: Readonly<Record<StoredLabelKind, readonly [table: string, column: string]>> = {
  domain: ['domains', 'display_name'],
  project: ['projects', 'display_name'],
  resource: ['resources', 'display_name'],
  node: ['nodes', 'name'],
  user: ['principals', 'display_name'],
  serviceaccount: ['principals', 'display_name'],
  group: ['groups', 'display_name'],
  cloud: ['clouds', 'display_name'],
  cloudcredential: ['cloud_credentials', 'display_name'],
  provider_bundle: ['provider_bundles', 'display_name'],
}

interface Named {
  readonly kind: string
  readonly id: string
}

/** Objects of one page, at most. */
const PAGE_MAX = 200

/**
 * Reads the names of the objects of a page, all that are asked for at once in one statement. An object that was deleted since has
 * an empty name.
 */
export function createNameReader(db: Db): (object: Named) => Promise<string> {
  const read = createGatheredReads<string>({
    readMany: (keys) => readNames(db, keys),
    isOutage: () => true,
    flightsMax: 1,
    batchMax: PAGE_MAX,
  })
  return async ({ kind, id }) => (await read(`${kind}:${id}`)) ?? ''
}

async function readNames(db: Db, keys: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const idsOf = new Map<string, string[]>()
  for (const key of keys) {
    const at = key.indexOf(':')
    const ids = idsOf.get(key.slice(0, at)) ?? []
    idsOf.set(key.slice(0, at), [...ids, key.slice(at + 1)])
  }
  const parts = [...idsOf].map(([kind, ids]) => namesOfKind(kind, ids))
  const { rows } = await sql<{ key: string; name: string }>`${sql.join(parts, sql` union all `)}`.execute(db)
  return new Map(rows.map(({ key, name }) => [key, name]))
}

function namesOfKind(kind: string, ids: readonly string[]): RawBuilder<unknown> {
  // The index of objects has no kinds but these.
  const [table, column] = NAMES[storedKind(kind as LabelKind)]
  return sql`select ${kind} || ':' || id as key, ${sql.ref(column)} as name from ${sql.table(table)}
    where id in (${sql.join(ids)})`
}
