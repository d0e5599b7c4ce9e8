import { ProblemAnswer } from '../../../../client/failures.ts'
import { usageError } from '../../../errors/cli-error.ts'
import type { Session } from '../../../session/session.ts'
import { isBundled, rowsOfList, type Bundle, type Cloud, type CloudOfBundle } from '../reading.ts'

/** A Cloud that is behind. */
export interface Move {
  readonly cloud_id: string
  readonly slug: string
  readonly from: number
  readonly to: number
}

/** Which Clouds of a bundle move to which version. */
export interface Plan {
  readonly bundle: Bundle
  readonly to: number
  /** In the order in which they move: by slug. */
  readonly moves: readonly Move[]
  /** Clouds at the version or beyond it. */
  readonly stay: number
}

/**
 * Makes the plan: Clouds of the bundle that are pinned to an older version than `to`. Throws a usage error for a version that
 * the bundle has not published.
 */
export async function planOf(session: Session, bundle: Bundle, to: number): Promise<Plan> {
  if (to > bundle.latest_version)
    throw usageError(
      `bundle ${bundle.slug} has no version ${to}; its newest is ${bundle.latest_version}`,
      `See: ctl bundles versions ${bundle.slug}`,
    )
  const clouds = await cloudsOf(session, bundle)
  const moves = clouds
    .filter(({ provider_bundle_version: from }) => from < to)
    .map(({ cloud_id, slug, provider_bundle_version: from }) => ({ cloud_id, slug, from, to }))
    .toSorted((one, other) => (one.slug < other.slug ? -1 : 1))
  return { bundle, to, moves, stay: clouds.length - moves.length }
}

/** The roster of the bundle; for who may not read it, the Clouds that they see, with a note that there may be others. */
async function cloudsOf(session: Session, bundle: Bundle): Promise<readonly CloudOfBundle[]> {
  try {
    const roster: CloudOfBundle[] = []
    for await (const cloud of rowsOfList<CloudOfBundle>(session, 'ListProviderBundleClouds', { id: bundle.id }))
      roster.push(cloud)
    return roster
  } catch (error) {
    if (!(error instanceof ProblemAnswer) || error.status !== 403) throw error
    session.note(`Only Clouds that you may see are looked at: the roster of ${bundle.slug} needs manage on the bundle.`)
    return seenCloudsOf(session, bundle)
  }
}

async function seenCloudsOf(session: Session, bundle: Bundle): Promise<readonly CloudOfBundle[]> {
  const seen: CloudOfBundle[] = []
  for await (const cloud of rowsOfList<Cloud>(session, 'ListClouds')) {
    if (!isBundled(cloud) || cloud.provider_bundle_id !== bundle.id) continue
    const { id: cloud_id, slug, display_name, provider_bundle_version } = cloud
    seen.push({ cloud_id, slug, display_name, provider_bundle_version })
  }
  return seen
}
