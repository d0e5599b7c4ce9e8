import { sql, type RawBuilder } from 'kysely'
import { createGatheredReads } from '../../shared/batch-loader.ts'
import { isNonZeroUuid, parseReference } from '../../shared/ids.ts'
import type { Db } from '../ports/datastore.ts'

/** Where objects have the name that people call them by. */
interface NameSource {
  readonly table: string
  readonly column: string
  /** The name as an expression over the row, which is `named`, instead of the column alone. */
  readonly expression?: RawBuilder<string>
  /** The column with the Domain; absent where the object belongs to the platform. */
  readonly domain?: string
  /** Where the Domain is that of a parent. */
  readonly within?: { readonly table: string; readonly key: string }
}

/** By type of the reference. Tokens, secrets and approvals are not here: who may read those is not decided by their Domain alone. */
const SOURCES: Readonly<Record<string, NameSource>> = {
  domain: { table: 'domains', column: 'slug', domain: 'id' },
  project: { table: 'projects', column: 'slug', domain: 'domain_id' },
  resource: { table: 'resources', column: 'slug', within: { table: 'projects', key: 'project_id' } },
  node: { table: 'nodes', column: 'name', domain: 'domain_id' },
  user: { table: 'principals', column: 'display_name', domain: 'domain_id' },
  serviceaccount: { table: 'principals', column: 'display_name', domain: 'domain_id' },
  group: { table: 'groups', column: 'slug', domain: 'domain_id' },
  policy: { table: 'policies', column: 'slug', domain: 'domain_id' },
  rollout: { table: 'rollouts', column: 'slug', domain: 'domain_id' },
  cloud: { table: 'clouds', column: 'slug' },
  provider_bundle: { table: 'provider_bundles', column: 'slug' },
  integrity_violation: {
    table: 'node_integrity_violations',
    column: 'artifact',
    domain: 'domain_id',
    expression: sql`named.artifact || coalesce(' on ' || (select n.name from nodes as n where n.id = named.node_id), '')`,
  },
}

/** The subjects and objects of the rows of one page, at most. */
const PAGE_MAX = 400

/**
 * Reads the names of references as they are now, all that are asked for at once in one statement. Null for what has no name or is
 * gone.
 *
 * @param domainId only names of objects of this Domain; none where `null`; all where undefined.
 */
export function createNameReader(
  db: Db,
  domainId: string | null | undefined,
): (reference: string) => Promise<string | null> {
  const read = createGatheredReads<string>({
    readMany: (references) => readNames(db, references, domainId),
    isOutage: () => true,
    flightsMax: 1,
    batchMax: PAGE_MAX,
  })
  return async (reference) => (isNamed(reference) ? ((await read(reference)) ?? null) : null)
}

function isNamed(reference: string): boolean {
  const parsed = parseReference(reference)
  return parsed !== undefined && isNonZeroUuid(parsed.id) && Object.hasOwn(SOURCES, parsed.type)
}

async function readNames(
  db: Db,
  references: readonly string[],
  domainId: string | null | undefined,
): Promise<ReadonlyMap<string, string>> {
  const parsed = references.map(parseReference).filter((one) => one !== undefined)
  const parts = Object.entries(SOURCES).flatMap(([type, source]) => {
    const ids = parsed.flatMap((one) => (one.type === type ? [one.id] : []))
    return ids.length === 0 ? [] : [namesOfType({ type, source, ids }, domainId)]
  })
  const { rows } = await sql<{ reference: string; name: string }>`${sql.join(parts, sql` union all `)}`.execute(db)
  return new Map(rows.map(({ reference, name }) => [reference, name]))
}

interface Wanted {
  readonly type: string
  readonly source: NameSource
  readonly ids: readonly string[]
}

function namesOfType({ type, source, ids }: Wanted, domainId: string | null | undefined): RawBuilder<unknown> {
  const { table, column, within, expression = sql<string>`named.${sql.ref(column)}` } = source
  const from = sql`${sql.table(table)} as named`
  const joined =
    within === undefined
      ? from
      : sql`${from} join ${sql.table(within.table)} as parent on parent.id = named.${sql.ref(within.key)}`
  return sql`select ${type} || ':' || named.id as reference, ${expression} as name from ${joined}
    where named.id = any(${ids}::uuid[]) and ${isShown(source, domainId)}`
}

function isShown({ domain, within }: NameSource, domainId: string | null | undefined): RawBuilder<unknown> {
  if (domainId === undefined) return sql`true`
  if (within !== undefined) return sql`parent.domain_id = ${domainId}`
  return domain === undefined ? sql`false` : sql`named.${sql.ref(domain)} = ${domainId}`
}
