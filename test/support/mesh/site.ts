import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publicKeyOf } from '../../../src/cli/agent/device/keys.ts'
import type { Box, Lab } from './lab.ts'
import { newPresharedKey, newPrivateKey } from './tunnel.ts'

/** A site outside of the mesh: a gateway with plain WireGuard, and a machine behind it. */
export interface Site {
  readonly gateway: Box
  /** Behind the gateway, in `subnet`. */
  readonly desk: Box
  readonly deskAddress: string
  readonly subnet: string
  /** `address:port` of the gateway. */
  readonly endpoint: string
  /** What the secret of the tunnel has at the end of the mesh. */
  readonly secret: Readonly<Record<string, string>>
}

const PORT = 51_999

/** Makes the site. It knows the host of the bridge by its key alone and lets it speak first. Its files are written to `folder`. */
export async function makeSite(lab: Lab, folder: string, meshCidr: string): Promise<Site> {
  const [gateway, desk] = [await lab.box('gateway'), await lab.box('desk')]
  const site = { subnet: '10.20.0.0/16', deskAddress: '10.20.0.5' }
  await gateway.namespace.ip([
    `link add lan type veth peer name lan netns ${desk.namespace.name}`,
    'address add 10.20.0.1/24 dev lan',
    'link set lan up',
  ])
  await desk.namespace.ip([
    `address add ${site.deskAddress}/24 dev lan`,
    'link set lan up',
    `route add ${meshCidr} via 10.20.0.1`,
  ])
  const keys = { gateway: newPrivateKey(), host: newPrivateKey(), preshared: newPresharedKey() }
  const file = (name: 'gateway' | 'preshared'): string => {
    const path = join(folder, name)
    writeFileSync(path, base64(keys[name]), { mode: 0o600 })
    return path
  }
  await must(lab, gateway, ['sysctl', '-qw', 'net.ipv4.ip_forward=1'])
  await must(lab, gateway, ['wireguard-go', 'wg0'])
  const own = ['private-key', file('gateway'), 'listen-port', String(PORT)]
  const peer = ['peer', publicKeyOf(keys.host), 'preshared-key', file('preshared'), 'allowed-ips', meshCidr]
  await must(lab, gateway, ['wg', 'set', 'wg0', ...own, ...peer])
  await gateway.namespace.ip(['link set wg0 up', `route add ${meshCidr} dev wg0`])
  return {
    gateway,
    desk,
    ...site,
    endpoint: `${gateway.address}:${PORT}`,
    secret: {
      private_key: base64(keys.host),
      peer_public_key: publicKeyOf(keys.gateway),
      preshared_key: base64(keys.preshared),
    },
  }
}

async function must(lab: Lab, box: Box, argv: readonly string[]): Promise<void> {
  const { exitCode, stderr } = await lab.exec(box, argv)
  if (exitCode !== 0) throw new Error(`${argv.join(' ')}: ${stderr}`)
}

function base64(key: Uint8Array): string {
  return Buffer.from(key).toString('base64')
}
