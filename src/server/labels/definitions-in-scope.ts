import { sql, type SqlBool } from 'kysely'
import { parseScope, scopeText, type Key } from '../../shared/selectors/syntax.ts'
import type { Definition, QueryScope } from '../../shared/selectors/definition.ts'
import type { ValueSchema } from '../../shared/labels/schema-types.ts'
import type { Db } from '../ports/datastore.ts'

/** Definitions that are offered for a key that is not known, at most. */
const SUGGESTED_MAX = 50

/**
 * Reads the Definitions that the keys of a selector can mean where it is used: of a bare key those of the Project, its
 * Domain and the platform, of a qualified key the one of its scope. They are read each time: one query over indexes.
 */
export async function definitionsNamed(db: Db, keys: readonly Key[], at: QueryScope): Promise<readonly Definition[]> {
  const qualified = keys.flatMap(({ scope, localKey }) => (scope === undefined ? [] : [qualifiedKey(scope, localKey)]))
  const bare = keys.filter(({ scope }) => scope === undefined).map(({ localKey }) => localKey)
  const conditions = [
    ...(qualified.length === 0 ? [] : [sql<SqlBool>`qualified_key in (${sql.join([...new Set(qualified)])})`]),
    ...(bare.length === 0
      ? []
      : [sql<SqlBool>`(local_key in (${sql.join([...new Set(bare)])}) and ${isSeenFrom(at)})`]),
  ]
  return conditions.length === 0 ? [] : readDefinitions(db, sql`${sql.join(conditions, sql` or `)}`)
}

/** Definitions that are seen from a place, by key: at most 50, to be offered where a key is not known. */
export async function definitionsSeen(db: Db, at: QueryScope): Promise<readonly Definition[]> {
  return readDefinitions(db, sql`${isSeenFrom(at)} order by local_key, id limit ${SUGGESTED_MAX}`)
}

function qualifiedKey(scope: NonNullable<Key['scope']>, localKey: string): string {
  return `${scopeText(scope)}/${localKey}`
}

function isSeenFrom({ domainId, projectId }: QueryScope) {
  return sql<SqlBool>`(${sql.join(
    [
      sql`scope_kind = 'platform'`,
      ...(domainId === undefined ? [] : [sql`(scope_kind = 'domain' and domain_id = ${domainId})`]),
      ...(projectId === undefined ? [] : [sql`(scope_kind = 'project' and project_id = ${projectId})`]),
    ],
    sql` or `,
  )})`
}

interface DefinitionFields {
  readonly id: string
  readonly local_key: string
  readonly qualified_key: string
  readonly type: ValueSchema['type']
  readonly inherit: boolean
}

async function readDefinitions(db: Db, condition: ReturnType<typeof sql>): Promise<readonly Definition[]> {
  const { rows } = await sql<DefinitionFields>`
    select id, local_key, qualified_key, value_schema ->> 'type' as type, inherit
    from label_definitions where ${condition}`.execute(db)
  return rows.map(toDefinition)
}

function toDefinition({ id, local_key: localKey, qualified_key, type, inherit }: DefinitionFields): Definition {
  const scope = parseScope(qualified_key.slice(0, -localKey.length - 1))
  if (scope === undefined) throw new Error(`the Definition ${id} has no scope in its key`)
  return { id, scope, localKey, qualifiedKey: qualified_key, type, inherit }
}
