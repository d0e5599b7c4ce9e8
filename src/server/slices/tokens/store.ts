import { sql, type Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { ApiTokenRow } from '../../ports/tables/identity.ts'
import type { DomainRow } from '../../ports/tables/tenancy.ts'
import type { Owner } from './owner.ts'

export type TokenRecord = Selectable<ApiTokenRow>

/** A principal that may own tokens, with its Domain. */
export interface OwnerRecord extends Owner {
  readonly domainId: string
}

/** The principal; undefined when there is none of that kind. */
export function findOwner(db: Db, owner: Owner): Promise<OwnerRecord | undefined> {
  return principal(db, owner).executeTakeFirst()
}

/** Locks the owner, so that its tokens are counted and issued by one caller at a time, and keeps it from being deleted. */
export function lockOwner(db: Db, owner: Owner): Promise<OwnerRecord | undefined> {
  return principal(db, owner).forNoKeyUpdate().executeTakeFirst()
}

/** Whether the principal may not sign in, or was deleted. */
export async function isDisabled(db: Db, principalId: string): Promise<boolean> {
  const active = await db
    .selectFrom('principals')
    .select('id')
    .where('id', '=', principalId)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  return active === undefined
}

const principal = (db: Db, { id, kind }: Owner) =>
  db
    .selectFrom('principals')
    .select(['id', 'kind', 'domain_id as domainId'])
    .where('id', '=', id)
    .where('kind', '=', kind)

export async function insertToken(db: Db, token: TokenRecord): Promise<void> {
  await db
    .insertInto('api_tokens')
    .values({ ...token, scopes: JSON.stringify(token.scopes) })
    .execute()
}

export function findToken(db: Db, id: string): Promise<TokenRecord | undefined> {
  return db.selectFrom('api_tokens').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Locks the token: concurrent revocations and rotations run one after another, and each sees the result of the one before. */
export function lockToken(db: Db, id: string): Promise<TokenRecord | undefined> {
  return db.selectFrom('api_tokens').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
}

/** Counts the tokens under the limit of live tokens: working, not hidden, not rotated yet. */
export async function countLive(db: Db, ownerId: string, now: Date): Promise<number> {
  const { live } = await db
    .selectFrom('api_tokens')
    .select(sql<number>`count(*)::int`.as('live'))
    .where('owner_id', '=', ownerId)
    .where('hidden', '=', false)
    .where('revoked_at', 'is', null)
    .where('rotated_to', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return live
}

/** Which tokens of an owner to list. */
export interface TokenRange {
  readonly ownerId: string
  readonly now: Date
  /** Tokens that ended before are left out. */
  readonly endedSince: Date
  readonly count: number
}

/** The owner's tokens, newest first. Where there are more than `count`, those that work come before those that ended. */
export async function listTokens(db: Db, { ownerId, now, endedSince, count }: TokenRange): Promise<TokenRecord[]> {
  const read = await db
    .selectFrom('api_tokens')
    .selectAll()
    .where('owner_id', '=', ownerId)
    .where('hidden', '=', false)
    .where('expires_at', '>', endedSince)
    .where((row) => row.or([row('revoked_at', 'is', null), row('revoked_at', '>', endedSince)]))
    .orderBy(sql`revoked_at is null and expires_at > ${now}`, 'desc')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(count)
    .execute()
  return read.toSorted(newestFirst)
}

function newestFirst(a: TokenRecord, b: TokenRecord): number {
  return b.created_at.getTime() - a.created_at.getTime() || (a.id < b.id ? 1 : -1)
}

export async function markRevoked(db: Db, id: string, at: Date): Promise<void> {
  await db.updateTable('api_tokens').set({ revoked_at: at }).where('id', '=', id).execute()
}

/** Ends the token at `expiresAt` in favour of another. */
export async function markRotated(
  db: Db,
  id: string,
  { rotatedTo, expiresAt }: { readonly rotatedTo: string; readonly expiresAt: Date },
): Promise<void> {
  await db
    .updateTable('api_tokens')
    .set({ rotated_to: rotatedTo, expires_at: expiresAt })
    .where('id', '=', id)
    .execute()
}

/** Locks and names the owner's tokens that no list will show again: ended before `endedSince`, or hidden and ended. */
export async function lockForgotten(
  db: Db,
  { ownerId, now, endedSince, count }: TokenRange,
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('api_tokens')
    .select('id')
    .where('owner_id', '=', ownerId)
    .where((row) =>
      row.or([
        row('expires_at', '<=', endedSince),
        row('revoked_at', '<=', endedSince),
        row.and([row('hidden', '=', true), row('expires_at', '<=', now)]),
      ]),
    )
    .orderBy('id')
    .limit(count)
    .forUpdate()
    .execute()
  return rows.map(({ id }) => id)
}

/** Locks and names tokens of anybody that no list will show again, the longest expired first. */
export async function lockExpired(
  db: Db,
  { now, endedSince, count }: Omit<TokenRange, 'ownerId'>,
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    with hidden as (
      select id from api_tokens where hidden and expires_at <= ${now}
      order by expires_at limit ${count} for update skip locked
    ), listed as (
      select id from api_tokens where not hidden and expires_at <= ${endedSince}
      order by expires_at limit ${count} for update skip locked
    )
    select id from hidden union all select id from listed
    limit ${count}`.execute(db)
  return rows.map(({ id }) => id)
}

/** Locks and names every token of an owner. */
export async function lockAllOf(db: Db, ownerId: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('api_tokens')
    .select('id')
    .where('owner_id', '=', ownerId)
    .orderBy('id')
    .forUpdate()
    .execute()
  return rows.map(({ id }) => id)
}

export async function deleteTokens(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await db.deleteFrom('api_tokens').where('id', 'in', ids).execute()
}

/** The columns of a token and its owner that resolving it needs. */
export interface CredentialRecord {
  readonly id: string
  readonly fingerprint: Buffer
  readonly fingerprint_key_id: string
  readonly scopes: string[]
  readonly expires_at: Date
  readonly revoked_at: Date | null
  readonly last_used_at: Date | null
  readonly self_issued: boolean
  readonly acr: string | null
  readonly auth_time: Date | null
  readonly owner_id: string
  readonly owner_kind: Owner['kind']
  readonly domain_id: string
  readonly display_name: string
}

/** The token with its owner; undefined where either was deleted, or the owner is disabled. */
export function findCredential(db: Db, id: string): Promise<CredentialRecord | undefined> {
  return db
    .selectFrom('api_tokens as token')
    .innerJoin('principals as owner', 'owner.id', 'token.owner_id')
    .select([
      'token.id',
      'token.fingerprint',
      'token.fingerprint_key_id',
      'token.scopes',
      'token.expires_at',
      'token.revoked_at',
      'token.last_used_at',
      'token.self_issued',
      'token.acr',
      'token.auth_time',
      'token.owner_id',
      'token.owner_kind',
      'owner.domain_id',
      'owner.display_name',
    ])
    .where('token.id', '=', id)
    .where('owner.disabled_at', 'is', null)
    .executeTakeFirst()
}

/** Stores uses that are a minute or more newer than the stored one. Rows are locked in the order of their ids, against deadlocks between replicas. */
export async function writeUses(db: Db, uses: readonly { readonly id: string; readonly at: Date }[]): Promise<void> {
  await sql`
    with used as (
      select token.id, use.at
      from unnest(${uses.map(({ id }) => id)}::uuid[], ${uses.map(({ at }) => at.toISOString())}::timestamptz[]) as use (id, at)
      join api_tokens as token on token.id = use.id
      where token.last_used_at is null or token.last_used_at <= use.at - interval '1 minute'
      order by token.id
      for no key update of token
    )
    update api_tokens set last_used_at = used.at from used where api_tokens.id = used.id
  `.execute(db)
}

/** The names of a Domain. */
export type DomainNames = Pick<Selectable<DomainRow>, 'slug' | 'display_name'>

/** The names of a Domain; undefined when it was deleted. */
export function findDomainNames(db: Db, id: string): Promise<DomainNames | undefined> {
  return db.selectFrom('domains').select(['slug', 'display_name']).where('id', '=', id).executeTakeFirst()
}
