import { sql, type Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import type { ReleaseRow } from '../../ports/tables/releases.ts'
import { byPrecedenceDescending } from '../../sql/keyset.ts'

/** A release with what it has for each architecture, by their names. */
export interface ReleaseRecord extends Omit<Selectable<ReleaseRow>, 'judged_with'> {
  readonly architectures: readonly { readonly architecture: string; readonly checksum: string }[]
}

const releasesWithArchitectures = (db: Db) =>
  db
    .selectFrom('releases')
    .select([
      'version',
      'precedence',
      'support_status',
      'verdict',
      'verdict_reason',
      'signed_by',
      'created_at',
      'updated_at',
    ])
    .select(
      sql<ReleaseRecord['architectures']>`(
        select json_agg(
          json_build_object('architecture', own.architecture, 'checksum', encode(own.checksum, 'hex'))
          order by own.architecture
        )
        from release_architectures own where own.version = releases.version
      )`.as('architectures'),
    )

/** Reads releases, newest first. */
export function listReleases(db: Db, range: PageRange): Promise<ReleaseRecord[]> {
  return byPrecedenceDescending.page(releasesWithArchitectures(db), range).execute()
}

export function findRelease(db: Db, version: string): Promise<ReleaseRecord | undefined> {
  return releasesWithArchitectures(db).where('version', '=', version).executeTakeFirst()
}

/** The attestation of the first architecture by name that has one; undefined where there is none (S1 Release registry). */
export async function findFirstBundle(db: Db, version: string): Promise<Buffer | undefined> {
  const first = await db
    .selectFrom('release_architectures')
    .select('bundle')
    .where('version', '=', version)
    .where('bundle', 'is not', null)
    .orderBy('architecture')
    .limit(1)
    .executeTakeFirst()
  return first?.bundle ?? undefined
}
