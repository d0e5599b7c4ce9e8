import type { Bridge } from '../../bridges/find-bridge.ts'
import { sharedSubnets } from '../../bridges/shared-subnets.ts'
import type { Routed } from '../../bridges/subnet-conflicts.ts'
import type { Db } from '../../ports/datastore.ts'
import type { ConflictAnswer } from './conflict-answer.ts'
import { routesElsewhere } from './subnets-elsewhere-store.ts'

/** Conflicts with other bridges in one check. */
const CONFLICTS_MAX = 64

/**
 * The parts of a bridge with subnets that overlap those of other bridges: peers reach such a subnet through the bridge with the
 * lowest id alone. `mayName`: whether the caller may know of that other bridge.
 */
export async function sharedSubnetConflicts(
  db: Db,
  bridge: Bridge,
  { routes, mayName }: { readonly routes: readonly Routed[]; readonly mayName: (id: string) => Promise<boolean> },
): Promise<ConflictAnswer[]> {
  if (routes.length === 0) return []
  const shared = sharedSubnets(routes, await routesElsewhere(db, bridge), CONFLICTS_MAX)
  return Promise.all(
    shared.map(async ({ part, subnet, resourceId }) => {
      const other = (await mayName(resourceId)) ? `the bridge ${resourceId}` : 'another bridge'
      const way = bridge.resourceId < resourceId ? 'this bridge' : 'that one'
      return {
        code: 'subnet_overlap_with_bridge',
        part,
        conflicts_with: null,
        detail: `${subnet} overlaps a subnet of ${other} of the Domain: nodes reach what both have through ${way}.`,
      }
    }),
  )
}
