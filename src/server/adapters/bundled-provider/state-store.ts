import type { Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { ProviderStateRow } from '../../ports/tables/sign-in.ts'

export type StateRecord = Selectable<ProviderStateRow>

/** One object of the provider: its kind, and the SHA-256 of its id. */
export interface StateKey {
  readonly model: string
  readonly idHash: Buffer
}

/** Writes the object over an earlier one of that id; whether it was consumed stays. */
export async function putState(db: Db, state: StateRecord): Promise<void> {
  const { sealed, uid_hash, grant_hash, expires_at } = state
  await db
    .insertInto('provider_states')
    .values(state)
    .onConflict((conflict) =>
      conflict.columns(['model', 'id_hash']).doUpdateSet({ sealed, uid_hash, grant_hash, expires_at }),
    )
    .execute()
}

/** The object, unless it has expired. */
export function findState(db: Db, { model, idHash }: StateKey, now: Date): Promise<StateRecord | undefined> {
  return live(db, model, now).where('id_hash', '=', idHash).executeTakeFirst()
}

export function findStateByUid(
  db: Db,
  model: string,
  uid: { hash: Buffer; now: Date },
): Promise<StateRecord | undefined> {
  return live(db, model, uid.now).where('uid_hash', '=', uid.hash).executeTakeFirst()
}

const live = (db: Db, model: string, now: Date) =>
  db
    .selectFrom('provider_states')
    .selectAll()
    .where('model', '=', model)
    .where((on) => on.or([on('expires_at', 'is', null), on('expires_at', '>', now)]))

/** Marks the object as used. Of several concurrent callers, one receives true. */
export async function consumeState(db: Db, { model, idHash }: StateKey, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('provider_states')
    .set({ consumed_at: at })
    .where('model', '=', model)
    .where('id_hash', '=', idHash)
    .where('consumed_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function deleteState(db: Db, { model, idHash }: StateKey): Promise<void> {
  await db.deleteFrom('provider_states').where('model', '=', model).where('id_hash', '=', idHash).execute()
}

/** Deletes the objects that a grant issued. */
export async function deleteStatesOfGrant(db: Db, grantHash: Buffer): Promise<void> {
  await db.deleteFrom('provider_states').where('grant_hash', '=', grantHash).execute()
}

/** Deletes up to `max` objects that have expired. Resolves with how many. */
export async function deleteExpiredStates(db: Db, now: Date, max: number): Promise<number> {
  const expired = db
    .selectFrom('provider_states')
    .select(['model', 'id_hash'])
    .where('expires_at', '<', now)
    .orderBy('expires_at')
    .limit(max)
    .forUpdate()
    .skipLocked()
  const { numDeletedRows } = await db
    .deleteFrom('provider_states')
    .where((on) => on(on.refTuple('model', 'id_hash'), 'in', expired.$asTuple('model', 'id_hash')))
    .executeTakeFirst()
  return Number(numDeletedRows)
}
