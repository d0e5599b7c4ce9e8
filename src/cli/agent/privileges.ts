import { readFileSync } from 'node:fs'
import { agentError } from './errors.ts'
import { EXIT } from '../errors/exit-code.ts'

/** Bit of CAP_NET_ADMIN (capabilities(7)). */
const NET_ADMIN = 12n

/** @throws CliError where this is not Linux, or where the process may not change network interfaces. */
export function assertPrivileges(platform: string = process.platform, status: () => string = ownStatus): void {
  if (platform !== 'linux')
    throw agentError('not_linux', `the agent runs on Linux, and this is ${platform}`, { exitCode: EXIT.usage })
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(status())?.[1] ?? '0'
  if (((BigInt(`0x${effective}`) >> NET_ADMIN) & 1n) === 1n) return
  throw agentError('not_permitted', 'the agent changes network interfaces, which needs root or CAP_NET_ADMIN', {
    exitCode: EXIT.denied,
    hints: ['Run it with sudo. A container needs --cap-add NET_ADMIN and --device /dev/net/tun.'],
  })
}

function ownStatus(): string {
  return readFileSync('/proc/self/status', 'utf8')
}
