import { spanOf } from '../../../shared/bridges/subnet.ts'
import type { Tunnel } from '../../bridges/bridge-parts.ts'
import { nameOf } from '../../bridges/claims.ts'
import type { Bridge } from '../../bridges/find-bridge.ts'
import { createSpanSet } from '../../bridges/span-set.ts'
import type { Db } from '../../ports/datastore.ts'
import type { ConflictAnswer } from './conflict-answer.ts'

/** A subnet of a bridge that another bridge of its Domain has too, or a part of it. */
interface SharedSubnet {
  readonly tunnel: Tunnel
  readonly subnet: string
  /** The other bridge. */
  readonly resourceId: string
}

/** Other bridges that one check names. */
const BRIDGES_MAX = 64

/**
 * The tunnels of a bridge with subnets that overlap those of other bridges: peers reach such a subnet through the bridge with the
 * lowest id alone. `mayName`: whether the caller may know of that other bridge.
 */
export async function sharedSubnetConflicts(
  db: Db,
  bridge: Bridge,
  { tunnels, mayName }: { readonly tunnels: readonly Tunnel[]; readonly mayName: (id: string) => Promise<boolean> },
): Promise<ConflictAnswer[]> {
  if (tunnels.length === 0) return []
  const shared = await sharedSubnets(db, bridge, tunnels)
  return Promise.all(
    shared.map(async ({ tunnel, subnet, resourceId }) => {
      const other = (await mayName(resourceId)) ? `the bridge ${resourceId}` : 'another bridge'
      const way = bridge.resourceId < resourceId ? 'this bridge' : 'that one'
      return {
        code: 'subnet_overlap_with_bridge',
        part: nameOf({ part: 'site-to-site', value: tunnel }),
        conflicts_with: null,
        detail: `${subnet} overlaps a subnet of ${other} of the Domain: nodes reach what both have through ${way}.`,
      }
    }),
  )
}

/** One for each other bridge and tunnel, by the id of the other bridge. */
async function sharedSubnets(db: Db, bridge: Bridge, tunnels: readonly Tunnel[]): Promise<readonly SharedSubnet[]> {
  const own = createSpanSet<Omit<SharedSubnet, 'resourceId'>>()
  for (const tunnel of tunnels)
    for (const subnet of tunnel.allowed_subnets) {
      const span = spanOf(subnet)
      if (own.overlapping(span) === undefined) own.add(span, { tunnel, subnet })
    }
  const found = new Map<string, SharedSubnet>()
  for (const { resource_id: resourceId, allowed_subnets: subnets } of await tunnelsElsewhere(db, bridge))
    for (const subnet of subnets) {
      const shared = own.overlapping(spanOf(subnet))?.value
      if (shared !== undefined) found.set(`${resourceId} ${shared.tunnel.slug}`, { ...shared, resourceId })
      if (found.size >= BRIDGES_MAX) return [...found.values()]
    }
  return [...found.values()]
}

function tunnelsElsewhere(db: Db, { resourceId, domainId }: Bridge) {
  return db
    .selectFrom('bridge_tunnels as tunnel')
    .innerJoin('resources as resource', 'resource.id', 'tunnel.resource_id')
    .select(['tunnel.resource_id', 'tunnel.allowed_subnets'])
    .where('resource.domain_id', '=', domainId)
    .where('resource.id', '<>', resourceId)
    .orderBy('tunnel.resource_id')
    .orderBy('tunnel.slug')
    .execute()
}
