import { isWithin, spanOf } from '../../shared/bridges/subnet.ts'

/** Makes the check whether nodes may reach a subnet through a bridge: it is inside of one of the networks that the Domain names. */
export function routableIn(routedNetworks: readonly string[]): (subnet: string) => boolean {
  const networks = routedNetworks.map(spanOf)
  return (subnet) => {
    const span = spanOf(subnet)
    return networks.some((network) => isWithin(span, network))
  }
}
