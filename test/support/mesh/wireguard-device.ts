import { vi } from 'vitest'
import { succeeded } from './agent-mesh.ts'
import type { Box, Lab } from './lab.ts'

const NAME = 'wg-device'
const UP = { timeout: 60_000, interval: 100 }

/** Brings the configuration up as `wg-quick` does, with plain wireguard-go, which ends with the lab. */
export async function connectDevice(lab: Lab, box: Box, config: string): Promise<void> {
  const run = (...argv: readonly string[]) => succeeded(lab.exec(box, argv))
  lab.spawn(box, ['wireguard-go', '-f', NAME], { stdio: 'ignore' })
  await vi.waitFor(() => run('wg', 'show', NAME), UP)
  const own = /^(?:Address|DNS) = .*\n/gm
  const [, address = ''] = /^Address = (.*)$/m.exec(config) ?? []
  const [, allowed = ''] = /^AllowedIPs = (.*)$/m.exec(config) ?? []
  await succeeded(lab.exec(box, ['wg', 'setconf', NAME, '/dev/stdin'], { stdin: config.replaceAll(own, '') }))
  await run('ip', 'address', 'add', address, 'dev', NAME)
  await run('ip', 'link', 'set', NAME, 'mtu', '1420', 'up')
  for (const cidr of allowed.split(', ')) await run('ip', 'route', 'add', cidr, 'dev', NAME)
}
