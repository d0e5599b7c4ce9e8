import type { Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { LocalRecoveryCodeRow } from './tables.ts'

/** A code that has not been used. */
export type RecoveryCodeRecord = Selectable<LocalRecoveryCodeRow>

export function codesOf(db: Db, accountId: string): Promise<RecoveryCodeRecord[]> {
  return db.selectFrom('local_recovery_codes').selectAll().where('account_id', '=', accountId).execute()
}

/** The number of unused codes, and when they were created. */
export interface CodesLeft {
  readonly count: number
  readonly madeAt: Date | null
}

export async function codesLeft(db: Db, accountId: string): Promise<CodesLeft> {
  const row = await db
    .selectFrom('local_recovery_codes')
    .select(({ fn }) => [fn.countAll<string>().as('count'), fn.max('created_at').as('madeAt')])
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  return { count: Number(row.count), madeAt: row.madeAt }
}

/** Deletes a code; false when it was deleted already. */
export async function deleteCode(db: Db, { account_id: accountId, fingerprint }: RecoveryCodeRecord): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('local_recovery_codes')
    .where('account_id', '=', accountId)
    .where('fingerprint', '=', fingerprint)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

export async function deleteCodes(db: Db, accountId: string): Promise<void> {
  await db.deleteFrom('local_recovery_codes').where('account_id', '=', accountId).execute()
}

/** Replaces the account's codes. */
export async function replaceCodes(db: Db, accountId: string, codes: readonly RecoveryCodeRecord[]): Promise<void> {
  await deleteCodes(db, accountId)
  await db.insertInto('local_recovery_codes').values(codes).execute()
}
