import { readdir } from 'node:fs/promises'
import { doEach } from '../../process/do-each.ts'
import { ownLinks } from '../../system/own-links.ts'
import type { ProgramDriverDeps } from './driver-deps.ts'
import { endOwnCharon } from './ipsec/charon.ts'
import { createIpsecDriver } from './ipsec/ipsec-driver.ts'
import { createOpenvpnDriver } from './openvpn/openvpn-driver.ts'
import type { TunnelDriver, TunnelKind } from './tunnel-driver.ts'
import { kindOfAnyInterface } from './tunnel-interface.ts'

/** The files that OpenVPN has in the state folder have the name of its interface. */
const FILE_OF_TUNNEL = /^(\w+)\.(?:log|sock|pid)$/

/**
 * Ends the programs of the tunnels that an earlier process has left, and removes their interfaces and files; programs also where
 * another program has removed the interface. Tunnels of WireGuard are interfaces alone: `removeOwnLinks` takes them.
 *
 * @throws CliError with the first that cannot be removed. The others are.
 */
export async function removeTunnels(place: Omit<ProgramDriverDeps, 'mesh' | 'log'>): Promise<void> {
  // It starts nothing, so there is nothing to log.
  const deps = { ...place, mesh: () => ({ cidr: undefined, address: '' }), log: () => undefined }
  const drivers = { ipsec: createIpsecDriver(deps), openvpn: createOpenvpnDriver(deps) }
  const steps = (await leftNames(place)).flatMap((name) => {
    const driver = driverOf(drivers, kindOfAnyInterface(name))
    return driver === undefined ? [] : [() => driver.remove(name)]
  })
  try {
    await doEach([...steps, () => endOwnCharon(place.folder)])
  } finally {
    await doEach(Object.values(drivers).map((driver) => () => driver.close()))
  }
}

async function leftNames({ run, owner, folder }: Omit<ProgramDriverDeps, 'mesh' | 'log'>): Promise<readonly string[]> {
  const [links, files] = await Promise.all([ownLinks(run, owner), readdir(folder)])
  const ofFiles = files.flatMap((file) => FILE_OF_TUNNEL.exec(file)?.[1] ?? [])
  return [...new Set([...links.map(({ name }) => name), ...ofFiles])]
}

function driverOf(
  { ipsec, openvpn }: Readonly<Record<Exclude<TunnelKind, 'wireguard'>, TunnelDriver>>,
  kind: TunnelKind | undefined,
): TunnelDriver | undefined {
  if (kind === 'ipsec') return ipsec
  return kind === 'openvpn' ? openvpn : undefined
}
