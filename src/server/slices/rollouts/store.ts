import type { Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { byIdDescending } from '../../sql/keyset.ts'
import { conflictsAs } from '../../sql/unique.ts'
import type { MaintenanceWindow, RolloutRow, Wave, WaveProgress } from './tables.ts'

export type RolloutRecord = Selectable<RolloutRow>

export type Status = RolloutRecord['status']

export function findRollout(db: Db, id: string): Promise<RolloutRecord | undefined> {
  return db.selectFrom('rollouts').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Keeps others from changing the rollout and its nodes until the transaction ends. The caller has locked its Domain, or holds it. */
export function lockRollout(tx: Db, id: string): Promise<RolloutRecord | undefined> {
  return tx.selectFrom('rollouts').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
}

/** Locks the Domain, so that only one of its rollouts is started at a time; false where there is none. */
export async function lockDomain(tx: Db, domainId: string): Promise<boolean> {
  const domain = await tx
    .selectFrom('domains')
    .select('id')
    .where('id', '=', domainId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return domain !== undefined
}

export interface RolloutFilter {
  readonly domainId: string
  readonly status: Status | undefined
}

/** Reads the rollouts of a Domain, newest first. */
export function listRollouts(
  db: Db,
  { domainId, status }: RolloutFilter,
  range: PageRange,
): Promise<readonly RolloutRecord[]> {
  let rollouts = db.selectFrom('rollouts').selectAll().where('domain_id', '=', domainId)
  if (status !== undefined) rollouts = rollouts.where('status', '=', status)
  return byIdDescending.page(rollouts, range).execute()
}

type JsonColumns = 'waves' | 'progress' | 'maintenance_window'

export type NewRollout = Omit<RolloutRecord, JsonColumns> & {
  readonly waves: readonly Wave[]
  readonly progress: readonly WaveProgress[]
  readonly maintenance_window: MaintenanceWindow | null
}

/** @throws Problem `slug_conflict` */
export async function insertRollout(
  tx: Db,
  { waves, progress, maintenance_window: window, ...columns }: NewRollout,
): Promise<void> {
  const json = {
    waves: JSON.stringify(waves),
    progress: JSON.stringify(progress),
    maintenance_window: JSON.stringify(window),
  }
  const insertion = tx.insertInto('rollouts').values({ ...columns, ...json })
  await conflictsAs(insertion.execute(), { rollouts_domain_slug_key: 'slug_conflict' })
}

/** What changes in the life of a rollout. */
export type Advance = Partial<
  Pick<
    RolloutRecord,
    'status' | 'wave' | 'in_flight' | 'halted_reason' | 'waiting_for' | 'started_at' | 'finished_at' | 'progress'
  >
> &
  Pick<RolloutRecord, 'updated_at'>

export function updateRollout(tx: Db, id: string, { progress, ...columns }: Advance): Promise<RolloutRecord> {
  const set = { ...columns, ...(progress !== undefined && { progress: JSON.stringify(progress) }) }
  return tx.updateTable('rollouts').set(set).where('id', '=', id).returningAll().executeTakeFirstOrThrow()
}

/** Deletes the rollout; its nodes go with it by their foreign key. */
export async function deleteRollout(tx: Db, id: string): Promise<void> {
  await tx.deleteFrom('rollouts').where('id', '=', id).execute()
}

/** Rollouts that have to be looked at: those that are running, and those whose last upgrades are not over. By id, after an id. */
export function readWatched(
  db: Db,
  after: string | undefined,
  max: number,
): Promise<readonly Pick<RolloutRecord, 'id' | 'domain_id'>[]> {
  let watched = db
    .selectFrom('rollouts')
    .select(['id', 'domain_id'])
    .where((row) => row.or([row('status', '=', 'running'), row('in_flight', '>', 0)]))
  if (after !== undefined) watched = watched.where('id', '>', after)
  return watched.orderBy('id').limit(max).execute()
}
