import { doEach } from '../../process/do-each.ts'
import { ownLinks } from '../../system/own-links.ts'
import type { ProgramDriverDeps } from './driver-deps.ts'
import { createIpsecDriver } from './ipsec/ipsec-driver.ts'
import { createOpenvpnDriver } from './openvpn/openvpn-driver.ts'
import { kindOfAnyInterface } from './tunnel-interface.ts'

/**
 * Ends the programs of the tunnels that an earlier process has left, and removes their interfaces. Those of WireGuard are interfaces
 * alone: `removeOwnLinks` takes them.
 *
 * @throws CliError with the first that cannot be removed. The others are.
 */
export async function removeTunnels(place: Omit<ProgramDriverDeps, 'mesh'>): Promise<void> {
  const deps = { ...place, mesh: () => ({ cidr: undefined, address: '' }) }
  const drivers = { ipsec: createIpsecDriver(deps), openvpn: createOpenvpnDriver(deps) }
  const links = await ownLinks(place.run, place.owner)
  const steps = links.flatMap(({ name }) => {
    const kind = kindOfAnyInterface(name)
    return kind === undefined || kind === 'wireguard' ? [] : [() => drivers[kind].remove(name)]
  })
  try {
    await doEach(steps)
  } finally {
    await doEach(Object.values(drivers).map((driver) => () => driver.close()))
  }
}
