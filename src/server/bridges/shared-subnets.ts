import { outermost, spanOf } from '../../shared/bridges/subnet.ts'
import type { PartName } from './bridge-parts.ts'
import { createSpanSet } from './span-set.ts'
import type { Routed } from './subnet-conflicts.ts'

/** A part of another bridge, with the networks that it leads to. */
export interface RoutedElsewhere {
  /** The bridge. */
  readonly resourceId: string
  readonly subnets: readonly string[]
}

/** A subnet of a part that another bridge has too, or a part of it. */
interface SharedSubnet {
  readonly part: PartName
  readonly subnet: string
  /** The other bridge. */
  readonly resourceId: string
}

/** Finds a subnet for each part and each other bridge that have addresses in common, of `max` such pairs at most. */
export function sharedSubnets(
  own: readonly Routed[],
  elsewhere: readonly RoutedElsewhere[],
  max: number,
): readonly SharedSubnet[] {
  const claimed = claimsOf(own)
  const found = new Map<string, SharedSubnet>()
  for (const { resourceId, subnets } of elsewhere)
    for (const claim of outermost(subnets).flatMap((subnet) => claimed.overlapping(spanOf(subnet)))) {
      const pair = `${resourceId} ${claim.part}`
      if (!found.has(pair)) found.set(pair, { ...claim, resourceId })
      if (found.size >= max) return [...found.values()]
    }
  return [...found.values()]
}

/** Where parts of the bridge itself overlap, which is a conflict of its own, the first one has the addresses. */
function claimsOf(own: readonly Routed[]) {
  const claimed = createSpanSet<Omit<SharedSubnet, 'resourceId'>>()
  for (const { part, subnets } of own)
    for (const subnet of outermost(subnets)) {
      const span = spanOf(subnet)
      if (claimed.overlapping(span).length === 0) claimed.add(span, { part, subnet })
    }
  return claimed
}
