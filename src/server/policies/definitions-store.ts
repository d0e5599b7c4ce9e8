import { sql } from 'kysely'
import type { Definition } from '../../shared/selectors/bind-selector.ts'
import type { Scope } from '../../shared/selectors/syntax.ts'
import type { Db } from '../ports/datastore.ts'
import type { LabelDefinitionRow } from '../ports/tables/labels.ts'

const COLUMNS = [
  'id',
  'scope_kind',
  'domain_id',
  'project_id',
  'local_key',
  'qualified_key',
  'value_schema',
  'inherit',
] as const

type Columns = Pick<LabelDefinitionRow, 'id' | 'scope_kind' | 'local_key' | 'qualified_key' | 'inherit'> & {
  readonly domain_id: string | null
  readonly value_schema: { readonly type: Definition['type'] }
}

/** The Definitions that are seen from a Domain: its own and the platform's. */
const seenFrom = (db: Db, domainId: string) =>
  db
    .selectFrom('label_definitions')
    .select(COLUMNS)
    .where((row) =>
      row.or([
        row('scope_kind', '=', 'platform'),
        row.and([row('scope_kind', '=', 'domain'), row('domain_id', '=', domainId)]),
      ]),
    )

/** Reads those with one of these local keys, and keeps them from being deleted until the transaction ends. */
export async function holdDefinitions(
  tx: Db,
  domainId: string,
  localKeys: readonly string[],
): Promise<readonly Definition[]> {
  if (localKeys.length === 0) return []
  const rows = await seenFrom(tx, domainId)
    .where('local_key', '=', sql<string>`any(${localKeys}::text[])`)
    .orderBy('id')
    .forKeyShare()
    .execute()
  return rows.map(toDefinition)
}

/** Most Definitions among which a similar key is looked for. */
const SUGGESTED_MAX = 1_000

/** Reads Definitions that may be suggested for a key that nobody defined. */
export async function readSuggested(db: Db, domainId: string): Promise<readonly Definition[]> {
  const rows = await seenFrom(db, domainId).orderBy('id').limit(SUGGESTED_MAX).execute()
  return rows.map(toDefinition)
}

function toDefinition(row: Columns): Definition {
  const { id, local_key: localKey, qualified_key: qualifiedKey, inherit } = row
  return { id, scope: scopeOf(row), localKey, qualifiedKey, type: row.value_schema.type, inherit }
}

function scopeOf({ scope_kind: kind, domain_id: domainId }: Columns): Scope {
  return kind === 'domain' && domainId !== null ? { kind, id: domainId } : { kind: 'platform' }
}

/** Records the Definitions that the revision in force of a policy names, instead of those of the one before. */
export async function replaceHeldDefinitions(tx: Db, holder: string, ids: readonly string[]): Promise<void> {
  await sql`
    delete from selector_definitions
    where holder = ${holder} and definition_id <> all(${ids}::uuid[])`.execute(tx)
  await sql`
    insert into selector_definitions (definition_id, holder)
    select id, ${holder} from unnest(${ids}::uuid[]) as id on conflict do nothing`.execute(tx)
}
