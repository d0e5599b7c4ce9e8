import type { Selectable } from 'kysely'
import type { Db } from '../ports/datastore.ts'
import type { ReleaseRow } from '../ports/tables/releases.ts'
import { precedenceOf } from '../../shared/semantic-version.ts'
import type { Judgement } from './judgement.ts'
import type { ArchitectureContent, SupportStatus } from './release-content.ts'

export type ReleaseRecord = Selectable<ReleaseRow>

/** What a new release has. */
export type NewRelease = Judgement & {
  readonly version: string
  readonly support_status: SupportStatus
  readonly created_at: Date
}

/** Inserts a release without architectures; false where one of that version exists. */
export async function insertRelease(db: Db, release: NewRelease): Promise<boolean> {
  const precedence = precedenceOf(release.version)
  if (precedence === undefined) throw new Error('a release without a semantic version reached its store')
  const { numInsertedOrUpdatedRows: rows = 0n } = await db
    .insertInto('releases')
    .values({ ...release, precedence, updated_at: release.created_at })
    .onConflict((conflict) => conflict.column('version').doNothing())
    .executeTakeFirstOrThrow()
  return rows > 0n
}

/** Locks a release, so that one caller at a time changes it. */
export function lockRelease(db: Db, version: string): Promise<ReleaseRecord | undefined> {
  return db.selectFrom('releases').selectAll().where('version', '=', version).forUpdate().executeTakeFirst()
}

export async function updateRelease(
  db: Db,
  version: string,
  changes: Partial<Judgement & Pick<ReleaseRecord, 'support_status' | 'updated_at'>>,
): Promise<void> {
  await db.updateTable('releases').set(changes).where('version', '=', version).execute()
}

/** Everything that is stored for the architectures of a release, by name. */
export async function readArchitectures(db: Db, version: string): Promise<ArchitectureContent[]> {
  const rows = await db
    .selectFrom('release_architectures')
    .select(['architecture', 'checksum', 'bundle'])
    .where('version', '=', version)
    .orderBy('architecture')
    .execute()
  return rows.map(({ architecture, checksum, bundle }) => ({
    architecture,
    checksum: checksum.toString('hex'),
    bundle: bundle ?? undefined,
  }))
}

/** Stores architectures; of those that are known, another attestation takes the place of the old one. */
export async function writeArchitectures(
  db: Db,
  version: string,
  architectures: readonly ArchitectureContent[],
): Promise<void> {
  for (const { architecture, checksum, bundle } of architectures) {
    const kept = bundle === undefined ? null : Buffer.from(bundle)
    await db
      .insertInto('release_architectures')
      .values({ version, architecture, checksum: Buffer.from(checksum, 'hex'), bundle: kept })
      .onConflict((conflict) => conflict.columns(['version', 'architecture']).doUpdateSet({ bundle: kept }))
      .execute()
  }
}

/** Releases whose verdict follows from other signers or another trust root. */
export function listJudgedOtherwise(
  db: Db,
  fingerprint: string,
  count: number,
): Promise<Pick<ReleaseRecord, 'version' | 'updated_at'>[]> {
  return db
    .selectFrom('releases')
    .select(['version', 'updated_at'])
    .where((row) => row.or([row('judged_with', 'is', null), row('judged_with', '!=', fingerprint)]))
    .orderBy('version')
    .limit(count)
    .execute()
}
