import { parseCidr } from '../../../shared/networks/cidr.ts'
import type { ReadBridge } from './own-bridges.ts'

/** The subnets of the tunnels of bridges that the node hosts. Texts that are no network are left out. */
export function hostedSubnets(bridges: readonly Pick<ReadBridge, 'config'>[]): readonly string[] {
  return bridges.flatMap(({ config }) => {
    // The reader of bridges has checked both lists.
    const { tunnels } = JSON.parse(config) as {
      readonly tunnels: readonly { readonly allowed_subnets: readonly string[] }[]
    }
    return tunnels.flatMap(({ allowed_subnets: subnets }) => subnets.filter((subnet) => parseCidr(subnet).ok))
  })
}
