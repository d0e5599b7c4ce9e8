import { sql, type Insertable, type Selectable } from 'kysely'
import { problem } from '../../../shared/problems.ts'
import type { Db } from '../../ports/datastore.ts'
import type { TokenOrigin } from '../../ports/idp-bindings.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { byAlias } from '../../sql/keyset.ts'
import { conflictsAs, type Conflict, type Conflicts } from '../../sql/unique.ts'
import type { IdpBindingRow } from '../../ports/tables/sign-in.ts'

export type BindingRecord = Selectable<IdpBindingRow>

const conflict =
  (reason: string): Conflict =>
  (cause) =>
    problem('idp_binding_conflict', { reason }, cause)

const CONFLICTS: Conflicts = {
  idp_bindings_alias_key: conflict('another binding has this alias'),
  idp_bindings_primary_key: conflict('another binding is primary already; make it secondary first'),
  idp_bindings_audience_key: conflict('another binding takes the same api_audience of this issuer'),
}

/** Maximum of active bindings for sign-ins in one place. */
export const BINDINGS_MAX = 50

const inPlace = (db: Db, domainId: string | null) =>
  db
    .selectFrom('idp_bindings')
    .where((where) => (domainId === null ? where('domain_id', 'is', null) : where('domain_id', '=', domainId)))

/** Reads the bindings of a place by alias; null is the platform. */
export function listBindings(db: Db, domainId: string | null, range: PageRange): Promise<BindingRecord[]> {
  return byAlias.page(inPlace(db, domainId).selectAll(), range).execute()
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

/** @throws Problem `idp_binding_conflict` whose `reason` names what another binding has. */
export async function insertBinding(db: Db, binding: BindingRecord): Promise<void> {
  await conflictsAs(db.insertInto('idp_bindings').values(asRow(binding)).execute(), CONFLICTS)
}

/**
 * Writes the whole binding.
 * @throws Problem `idp_binding_conflict` whose `reason` names what another binding has.
 */
export async function updateBinding(db: Db, { id, ...binding }: BindingRecord): Promise<void> {
  const { id: _, ...row } = asRow({ id, ...binding })
  await conflictsAs(db.updateTable('idp_bindings').set(row).where('id', '=', id).execute(), CONFLICTS)
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

/** The active bindings that take access tokens of an issuer for one of the audiences: two are enough to detect ambiguity. */
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

/** Ways to name a Domain; no name means the only one. */
export interface DomainName {
  readonly id?: string | undefined
  readonly slug?: string | undefined
}

/** The matching Domains, two at most. */
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
