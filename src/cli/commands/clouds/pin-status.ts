import { ProblemAnswer } from '../../../client/failures.ts'
import type { Session } from '../../session/session.ts'
import { rowsOfList, type Bundle } from './reading.ts'

/** How far the pinned version of a Cloud is behind the latest one of its bundle; `unknown` where that may not be read. */
export type PinStatus = 'up to date' | `${number} behind` | 'unknown'

/** Compares a pinned version with the latest one. */
export function pinStatus(pinned: number, latest: number | undefined): PinStatus {
  if (latest === undefined) return 'unknown'
  return latest > pinned ? `${latest - pinned} behind` : 'up to date'
}

/** Latest versions by bundle id: those of the named bundles that the caller may read. */
export type LatestVersions = ReadonlyMap<string, number>

/**
 * Reads the list of bundles until all that are named were seen. Where the list is refused no version is known, and a warning
 * says why: the table of Clouds is useful without it.
 */
export async function latestVersions(session: Session, bundleIds: ReadonlySet<string>): Promise<LatestVersions> {
  const latest = new Map<string, number>()
  if (bundleIds.size === 0) return latest
  try {
    for await (const { id, latest_version } of rowsOfList<Bundle>(session, 'ListProviderBundles')) {
      if (bundleIds.has(id)) latest.set(id, latest_version)
      if (latest.size === bundleIds.size) break
    }
  } catch (error) {
    if (!(error instanceof ProblemAnswer)) throw error
    session.warn(`latest versions are not known, because bundles cannot be listed: ${error.detail}`)
  }
  return latest
}
