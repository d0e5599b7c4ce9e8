import { accessSync, constants, readFileSync } from 'node:fs'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'

/** CAP_NET_ADMIN of linux/capability.h. */
const NET_ADMIN_BIT = 12n
const TUN = '/dev/net/tun'

/** Refuses to go on without the right to change network interfaces. */
export function requireNetAdmin(): void {
  if (hasNetAdmin()) return
  throw new CliError('Changing network interfaces needs root or CAP_NET_ADMIN.', {
    exitCode: EXIT.denied,
    code: 'no_net_admin',
    hints: ['Run it with sudo.'],
  })
}

/** Refuses to go on as another user than root. */
export function requireRoot(what: string): void {
  if (process.geteuid?.() === 0) return
  throw new CliError(`${what} needs root.`, { exitCode: EXIT.denied, code: 'not_root', hints: ['Run it with sudo.'] })
}

/** Refuses to go on without the device that a program carries packets through. */
export function requireTun(program = 'wireguard-go'): void {
  try {
    accessSync(TUN, constants.R_OK | constants.W_OK)
  } catch (error) {
    throw new CliError(`${TUN} is missing or cannot be opened, and ${program} needs it.`, {
      exitCode: EXIT.failed,
      code: 'no_tun_device',
      hints: ['Load the kernel module: modprobe tun. In a container, pass the device to it: --device /dev/net/tun'],
      cause: error,
    })
  }
}

/** Whether this process may change network interfaces. */
export function hasNetAdmin(): boolean {
  return hasCapabilities([NET_ADMIN_BIT])
}

/** Whether this process has capabilities, by their numbers in linux/capability.h. */
export function hasCapabilities(bits: readonly bigint[]): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  return effective !== undefined && bits.every((bit) => ((BigInt(`0x${effective}`) >> bit) & 1n) === 1n)
}
