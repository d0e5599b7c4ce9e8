import type { Db } from '../ports/datastore.ts'

/** A release as an upgrade sees it. */
export interface UpgradeTarget {
  readonly version: string
  readonly isVerified: boolean
  readonly isWithdrawn: boolean
  /** SHA-256 by architecture, 64 hex digits. */
  readonly checksums: ReadonlyMap<string, string>
}

/** Reads a release; undefined where there is none of that version. */
export async function readUpgradeTarget(db: Db, version: string): Promise<UpgradeTarget | undefined> {
  const rows = await db
    .selectFrom('releases')
    .innerJoin('release_architectures', 'release_architectures.version', 'releases.version')
    .select(['verdict', 'support_status', 'architecture', 'checksum'])
    .where('releases.version', '=', version)
    .execute()
  const [first] = rows
  if (first === undefined) return undefined
  return {
    version,
    isVerified: first.verdict === 'verified',
    isWithdrawn: first.support_status === 'withdrawn',
    checksums: new Map(rows.map(({ architecture, checksum }) => [architecture, checksum.toString('hex')])),
  }
}

/**
 * Why nothing may be upgraded to the release, as `reason` of `release_not_eligible`; undefined where it may
 * (decisions: Release registry).
 */
export function ineligibilityOf(target: UpgradeTarget | undefined): string | undefined {
  if (target === undefined) return 'no such release is known'
  if (target.isWithdrawn) return 'the release was withdrawn'
  return target.isVerified ? undefined : 'the release is not verified'
}

/** The same for one node; an agent that does not say its architecture takes any release. */
export function ineligibilityFor(target: UpgradeTarget | undefined, architecture: string | null): string | undefined {
  const reason = ineligibilityOf(target)
  if (reason !== undefined || architecture === null || target?.checksums.has(architecture) === true) return reason
  return `the release has nothing for the architecture ${architecture}`
}
