import { sql, type Selectable } from 'kysely'
import type { SignedIn } from '../../http/auth/wanted-sign-in.ts'
import type { Db } from '../../ports/datastore.ts'
import type { DeviceSignInRow } from './tables.ts'

/** A pending device sign-in, as stored. */
export type DeviceSignIn = Selectable<DeviceSignInRow>

/** A new device sign-in. */
export type DeviceSignInDraft = Omit<
  DeviceSignIn,
  'state' | 'decided_by' | 'decided_at' | 'polled_at' | 'approver_acr' | 'approver_auth_time'
>

/** Lets one caller at a time begin device sign-ins in the Domain, so that they can be counted. False when the Domain is deleted. */
export async function lockDomain(tx: Db, id: string): Promise<boolean> {
  const row = await tx.selectFrom('domains').select('id').where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
  return row !== undefined
}

/** How many device sign-ins of the Domain wait, and how many of them began at the address. */
export async function countWaiting(
  tx: Db,
  { domainId, sourceAddress, now }: { domainId: string; sourceAddress: string; now: Date },
): Promise<{ inDomain: number; atAddress: number }> {
  return tx
    .selectFrom('device_sign_ins')
    .select([
      sql<number>`count(*)::int`.as('inDomain'),
      sql<number>`count(*) filter (where source_address = ${sourceAddress})::int`.as('atAddress'),
    ])
    .where('domain_id', '=', domainId)
    .where('state', 'in', ['pending', 'approved'])
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
}

/** Adds a device sign-in; false when its user code is taken. */
export async function insertPending(tx: Db, draft: DeviceSignInDraft): Promise<boolean> {
  const { numInsertedOrUpdatedRows: inserted } = await tx
    .insertInto('device_sign_ins')
    .values({
      ...draft,
      scopes: JSON.stringify(draft.scopes),
      acr_values: JSON.stringify(draft.acr_values),
      state: 'pending',
      decided_by: null,
      decided_at: null,
      polled_at: null,
    })
    .onConflict((conflict) => conflict.constraint('device_sign_ins_user_code_key').doNothing())
    .executeTakeFirst()
  return inserted === 1n
}

/** Locks the sign-in of a device code: concurrent polls run one after another, and each sees the result of the one before. */
export function lockByDeviceCode(tx: Db, hash: Buffer): Promise<DeviceSignIn | undefined> {
  return tx
    .selectFrom('device_sign_ins')
    .selectAll()
    .where('device_code_hash', '=', hash)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

/** Locks the sign-in of a user code in its Domain. */
export function lockByUserCode(
  tx: Db,
  { userCode, domainId }: { userCode: string; domainId: string },
): Promise<DeviceSignIn | undefined> {
  return byUserCode(tx, userCode, domainId).forNoKeyUpdate().executeTakeFirst()
}

/** The sign-in of a user code in its Domain. */
export function findByUserCode(
  db: Db,
  { userCode, domainId }: { userCode: string; domainId: string },
): Promise<DeviceSignIn | undefined> {
  return byUserCode(db, userCode, domainId).executeTakeFirst()
}

const byUserCode = (db: Db, userCode: string, domainId: string) =>
  db.selectFrom('device_sign_ins').selectAll().where('user_code', '=', userCode).where('domain_id', '=', domainId)

/** Records the poll of the device and its new interval. */
export async function notePoll(tx: Db, id: string, poll: { at: Date; intervalSeconds: number }): Promise<void> {
  await tx
    .updateTable('device_sign_ins')
    .set({ polled_at: poll.at, interval_seconds: poll.intervalSeconds })
    .where('id', '=', id)
    .execute()
}

/** Who decides, and how they are signed in. */
type Decider = SignedIn & { readonly principalId: string }

/** Records the decision and who made it. */
export async function noteDecision(
  tx: Db,
  id: string,
  { state, by, at }: { state: 'approved' | 'denied'; by: Decider; at: Date },
): Promise<void> {
  const { acr = null, authTimeMs, isAuthTimeAssumed = false } = by
  const authTime = authTimeMs === undefined || isAuthTimeAssumed ? null : new Date(authTimeMs)
  const approver = state === 'approved' && { approver_acr: acr, approver_auth_time: authTime }
  await tx
    .updateTable('device_sign_ins')
    .set({ state, decided_by: by.principalId, decided_at: at, ...approver })
    .where('id', '=', id)
    .execute()
}

/** Marks the code as used. */
export async function noteRedemption(tx: Db, id: string): Promise<void> {
  await tx.updateTable('device_sign_ins').set({ state: 'redeemed' }).where('id', '=', id).execute()
}

/** Whether the user exists and may sign in. Not locked: issuing a token locks its owner, and checks again. */
export async function mayUserSignIn(tx: Db, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom('principals')
    .select('id')
    .where('id', '=', id)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

/** A binding as a sign-in page offers it. */
export interface BindingChoice {
  readonly id: string
  readonly label: string
  readonly issuer: string
}

/** Choices that a page shows at most. */
const CHOICES_MAX = 50

/** The active bindings of the Domain, primary first; the platform's where it has none of its own. */
export async function bindingChoices(db: Db, domainId: string): Promise<readonly BindingChoice[]> {
  const rows = await db
    .selectFrom('idp_bindings')
    .select(['id', 'label', 'issuer', 'domain_id'])
    .where('is_active', '=', true)
    .where((on) => on.or([on('domain_id', '=', domainId), on('domain_id', 'is', null)]))
    .orderBy((on) => on('domain_id', 'is', null))
    .orderBy('is_primary', 'desc')
    .orderBy('alias')
    .limit(CHOICES_MAX)
    .execute()
  const own = rows.filter((row) => row.domain_id !== null)
  return own.length > 0 ? own : rows
}

/** The default Domain of a request that names none: the only one, if there is just one. */
export async function onlyDomain(db: Db): Promise<string | undefined> {
  const rows = await db.selectFrom('domains').select('id').limit(2).execute()
  return rows.length === 1 ? rows[0]?.id : undefined
}

/** The Domain of a slug. */
export async function domainBySlug(db: Db, slug: string): Promise<string | undefined> {
  return (await db.selectFrom('domains').select('id').where('slug', '=', slug).executeTakeFirst())?.id
}

/** The display name of the Domain. */
export async function domainName(db: Db, id: string): Promise<string> {
  const row = await db.selectFrom('domains').select('display_name').where('id', '=', id).executeTakeFirst()
  return row?.display_name ?? ''
}
