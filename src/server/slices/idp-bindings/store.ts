import { sql, type Insertable, type Selectable } from 'kysely'
import { DatastoreError, type Db } from '../../ports/datastore.ts'
import type { TokenOrigin } from '../../ports/idp-bindings.ts'
import type { IdpBindingRow } from '../../ports/sign-in-tables.ts'

export type BindingRecord = Selectable<IdpBindingRow>

/** What another binding has already, where an insert or update is refused for it. */
export type Taken = 'alias' | 'primary' | 'audience'

const TAKEN_BY_CONSTRAINT: Readonly<Record<string, Taken>> = {
  idp_bindings_alias_key: 'alias',
  idp_bindings_primary_key: 'primary',
  idp_bindings_audience_key: 'audience',
}

/** Active bindings that are offered for signing in; a place may hold no more. */
export const BINDINGS_MAX = 50

const inPlace = (db: Db, domainId: string | null) =>
  db
    .selectFrom('idp_bindings')
    .where((where) => (domainId === null ? where('domain_id', 'is', null) : where('domain_id', '=', domainId)))

/** Which bindings of a place to read; null is the platform. In the byte order of their aliases. */
export interface BindingRange {
  readonly domainId: string | null
  readonly afterAlias: string | undefined
  readonly count: number
}

export function listBindings(db: Db, { domainId, afterAlias, count }: BindingRange): Promise<BindingRecord[]> {
  return inPlace(db, domainId)
    .selectAll()
    .$if(afterAlias !== undefined, (query) => query.where('alias', '>', afterAlias ?? ''))
    .orderBy('alias')
    .limit(count)
    .execute()
}

export async function countBindings(db: Db, domainId: string | null): Promise<number> {
  const { bindings } = await inPlace(db, domainId)
    .select(sql<number>`count(*)::int`.as('bindings'))
    .executeTakeFirstOrThrow()
  return bindings
}

export function findBinding(db: Db, id: string): Promise<BindingRecord | undefined> {
  return db.selectFrom('idp_bindings').selectAll().where('id', '=', id).executeTakeFirst()
}

export function lockBinding(db: Db, id: string): Promise<BindingRecord | undefined> {
  return db.selectFrom('idp_bindings').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

/** Inserts the binding; says what is taken where another has it. */
export function insertBinding(db: Db, binding: BindingRecord): Promise<Taken | undefined> {
  return untaken(db.insertInto('idp_bindings').values(asRow(binding)).execute())
}

/** Writes the whole binding; says what is taken where another has it. */
export function updateBinding(db: Db, { id, ...binding }: BindingRecord): Promise<Taken | undefined> {
  const { id: _, ...row } = asRow({ id, ...binding })
  return untaken(db.updateTable('idp_bindings').set(row).where('id', '=', id).execute())
}

export async function deleteBinding(db: Db, id: string): Promise<void> {
  await db.deleteFrom('idp_bindings').where('id', '=', id).execute()
}

/** The active bindings that a Domain offers: its own, or the platform's where it has none. The primary one first. */
export function offeredBindings(db: Db, domainId: string): Promise<BindingRecord[]> {
  return db
    .selectFrom('idp_bindings')
    .selectAll()
    .where('is_active', '=', true)
    .where('signs_in', '=', true)
    .where((where) =>
      where.or([
        where('domain_id', '=', domainId),
        where.and([
          where('domain_id', 'is', null),
          where.not(
            where.exists(
              where
                .selectFrom('idp_bindings as own')
                .select('own.id')
                .where('own.domain_id', '=', domainId)
                .where('own.is_active', '=', true)
                .where('own.signs_in', '=', true),
            ),
          ),
        ]),
      ]),
    )
    .orderBy('is_primary', 'desc')
    .orderBy('alias')
    .limit(BINDINGS_MAX)
    .execute()
}

/** The active bindings that take access tokens of an issuer for one of the audiences: two say as much as more. */
export async function bindingsTaking(db: Db, { issuer, audiences }: TokenOrigin): Promise<BindingRecord[]> {
  if (audiences.length === 0) return []
  return db
    .selectFrom('idp_bindings')
    .selectAll()
    .where('issuer', '=', issuer)
    .where('api_audience', 'in', audiences)
    .where('is_active', '=', true)
    .orderBy('id')
    .limit(2)
    .execute()
}

/** How a Domain may be named; nothing named means the only one. */
export interface DomainName {
  readonly id?: string | undefined
  readonly slug?: string | undefined
}

/** The Domains that may be meant, two at most. */
export async function findDomainIds(db: Db, { id, slug }: DomainName): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('domains')
    .select('id')
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
    .$if(slug !== undefined, (query) => query.where('slug', '=', slug ?? ''))
    .limit(2)
    .execute()
  return rows.map((row) => row.id)
}

/** JSON columns are written as text. */
function asRow(binding: BindingRecord): Insertable<IdpBindingRow> {
  const { algorithms, claims, required_acr, required_amr, auto_provision, ...plain } = binding
  return {
    ...plain,
    algorithms: JSON.stringify(algorithms),
    claims: JSON.stringify(claims),
    required_acr: JSON.stringify(required_acr),
    required_amr: JSON.stringify(required_amr),
    auto_provision: JSON.stringify(auto_provision),
  }
}

async function untaken(write: Promise<unknown>): Promise<Taken | undefined> {
  try {
    await write
    return undefined
  } catch (error) {
    const taken = error instanceof DatastoreError ? TAKEN_BY_CONSTRAINT[error.constraint ?? ''] : undefined
    if (taken === undefined) throw error
    return taken
  }
}
