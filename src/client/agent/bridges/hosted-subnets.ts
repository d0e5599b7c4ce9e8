import { parseCidr } from '../../../shared/networks/cidr.ts'
import type { ReadBridge } from './own-bridges.ts'

/**
 * The subnets behind bridges that the node hosts, those of tunnels and of the devices of people. Texts that are no network are
 * left out.
 */
export function hostedSubnets(bridges: readonly Pick<ReadBridge, 'config'>[]): readonly string[] {
  return bridges.flatMap(({ config }) => {
    // The reader of bridges has checked these lists.
    const { tunnels, user_access: providers } = JSON.parse(config) as {
      readonly tunnels: readonly { readonly allowed_subnets: readonly string[] }[]
      readonly user_access: readonly { readonly peer_subnet?: unknown }[]
    }
    const ofPeople = providers.map(({ peer_subnet: subnet }) => subnet).filter((subnet) => typeof subnet === 'string')
    return [...tunnels.flatMap(({ allowed_subnets: subnets }) => subnets), ...ofPeople].filter(
      (subnet) => parseCidr(subnet).ok,
    )
  })
}
