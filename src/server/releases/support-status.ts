import type { Db } from '../ports/datastore.ts'
import type { SupportStatus } from './release-content.ts'
import { ReleaseRefused } from './release-refused.ts'
import { lockRelease, updateRelease } from './release-store.ts'

/**
 * Changes the support status of a release: supported and deprecated either way, and any to withdrawn, which is final
 * (decisions: Release registry). Resolves with whether it was another one.
 *
 * @throws ReleaseRefused for an unknown and for a withdrawn release.
 */
export async function changeSupportStatus(
  db: Db,
  version: string,
  { status, now }: { readonly status: SupportStatus; readonly now: Date },
): Promise<boolean> {
  const release = await lockRelease(db, version)
  if (release === undefined) throw new ReleaseRefused(`There is no release ${version}.`)
  if (release.support_status === status) return false
  if (release.support_status === 'withdrawn')
    throw new ReleaseRefused(`Release ${version} was withdrawn, and stays so: publish another version.`)
  await updateRelease(db, version, { support_status: status, updated_at: now })
  return true
}
