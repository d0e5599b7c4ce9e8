import { outermost, spanOf, type Span } from '../../../shared/bridges/subnet.ts'
import { routableIn } from '../../bridges/routed-networks.ts'
import { createSpanSet } from '../../bridges/span-set.ts'
import type { HostedBridge } from './hosted-subnets-store.ts'

/** What a Domain says of the networks that its nodes reach. */
export interface DomainNetworks {
  readonly meshCidr: string
  /** Networks whose parts may be reached through bridges. */
  readonly routedNetworks: readonly string[]
}

/**
 * Chooses which subnets the nodes of a Domain announce to their peers, sorted, by node id. `bridges` are in the order of their ids:
 * of subnets that overlap, those of the bridge with the lowest id count. A subnet that has addresses of the mesh never does, nor
 * does one outside of the networks that the Domain lets bridges lead to: it takes nothing from the bridges that follow either.
 */
export function chooseSubnets(
  bridges: readonly HostedBridge[],
  { meshCidr, routedNetworks }: DomainNetworks,
): ReadonlyMap<string, readonly string[]> {
  const isRoutable = routableIn(routedNetworks)
  const taken = createSpanSet<undefined>()
  taken.add(spanOf(meshCidr), undefined)
  const chosen = new Map<string, string[]>()
  for (const { hostId, subnets } of bridges) {
    const spans = outermost(subnets.filter(isRoutable)).map((subnet): readonly [string, Span] => [
      subnet,
      spanOf(subnet),
    ])
    const free = spans.filter(([, span]) => taken.overlapping(span).length === 0)
    for (const [, span] of free) taken.add(span, undefined)
    chosen.set(hostId, [...(chosen.get(hostId) ?? []), ...free.map(([subnet]) => subnet)])
  }
  const announced = [...chosen].filter(([, subnets]) => subnets.length > 0)
  return new Map(announced.map(([nodeId, subnets]) => [nodeId, subnets.toSorted()]))
}
