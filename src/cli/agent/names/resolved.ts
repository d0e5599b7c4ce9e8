import { join } from 'node:path'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { reasonOf } from '../errors.ts'
import { isMissingProgram } from '../system/missing-program.ts'
import type { ProgramResult } from '../system/run-program.ts'
import { exists, existingText } from './existing-text.ts'
import { ZONE } from './name-table.ts'
import { isInOtherNetwork } from './other-network.ts'
import { notConfigured, type SplitDns, type SplitDnsDeps } from './split-dns.ts'

/**
 * Split DNS by systemd-resolved: the mesh interface gets the resolver as its server and `~mesh` as its only domain, so that
 * only names under it are sent there.
 */
export function createResolved({ run, system, interfaceName }: SplitDnsDeps): SplitDns {
  const set = (property: string, ...values: readonly string[]) =>
    run('resolvectl', [property, interfaceName, ...values])
  const revert = () => run('resolvectl', ['revert', interfaceName])
  return {
    way: 'systemd-resolved',
    async configure(address) {
      if (!(await exists(system.resolvedFolder))) return notConfigured('systemd-resolved does not run')
      if (await isInOtherNetwork(system)) return notConfigured('systemd-resolved serves another network namespace')
      try {
        const refusal = await configureLink(set, address)
        if (refusal === undefined) return { isConfigured: true, fault: await faultOfClients() }
        await revert()
        return notConfigured(`systemd-resolved refused: ${refusal}`)
      } catch (error) {
        return notConfigured(`systemd-resolved cannot be used: ${reasonOf(error)}`)
      }
    },
    async remove() {
      const isThere =
        (await exists(system.resolvedFolder)) && (await exists(join(system.interfacesFolder, interfaceName)))
      // resolved forgets an interface that is gone, and has not been given one of another namespace.
      if (!isThere || (await isInOtherNetwork(system))) return
      const refusal = await refusalOfRevert()
      if (refusal === undefined) return
      throw new CliError(`systemd-resolved kept the names of ${interfaceName}: ${refusal}.`, {
        exitCode: EXIT.failed,
        code: 'names_not_removed',
        hints: [`Try: resolvectl revert ${interfaceName}`],
      })
    },
  }

  async function refusalOfRevert(): Promise<string | undefined> {
    try {
      const result = await revert()
      return result.exitCode === 0 ? undefined : refusalOf(result)
    } catch (error) {
      // It was uninstalled. Its folder stays until the machine starts again.
      if (isMissingProgram(error)) return undefined
      throw error
    }
  }

  /** resolved may run while programs ask other servers. */
  async function faultOfClients(): Promise<string | undefined> {
    const asksStub = /^nameserver\s+127\.0\.0\.5[34]\s*$/m.test(await existingText(system.resolvConf))
    const asksByModule = /^hosts:.*\bresolve\b/m.test(await existingText(system.nsswitch))
    return asksStub || asksByModule
      ? undefined
      : `systemd-resolved has the names, but ${system.resolvConf} does not lead to it: link it to ${system.resolvedFolder}/stub-resolv.conf`
  }
}

/** Why resolved refused; undefined once it is configured. The domain comes first: a server without one is asked for every name. */
async function configureLink(
  set: (property: string, ...values: readonly string[]) => Promise<ProgramResult>,
  address: string,
): Promise<string | undefined> {
  const steps = [
    ['domain', `~${ZONE}`],
    ['default-route', 'no'],
    // The resolver signs nothing and speaks no TLS, whatever the machine demands of others.
    ['dnssec', 'no'],
    ['dnsovertls', 'no'],
    ['llmnr', 'no'],
    ['mdns', 'no'],
    ['dns', address],
  ] as const
  for (const [property, value] of steps) {
    const result = await set(property, value)
    if (result.exitCode !== 0) return refusalOf(result)
  }
  return undefined
}

function refusalOf({ stderr, exitCode }: ProgramResult): string {
  const [line = ''] = stderr.trim().split('\n')
  return line === '' ? `exit status ${exitCode}` : line
}
