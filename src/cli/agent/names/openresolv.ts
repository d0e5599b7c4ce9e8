import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { reasonOf } from '../errors.ts'
import { isMissingProgram } from '../system/missing-program.ts'
import { existingText } from './existing-text.ts'
import { ZONE } from './name-table.ts'
import { isInOtherNetwork } from './other-network.ts'
import { type Configured, notConfigured, type SplitDns, type SplitDnsDeps } from './split-dns.ts'

/** Settings with which openresolv configures a local resolver that can send one zone to a server of its own. */
const LOCAL_RESOLVER = /^[ \t]*(?:dnsmasq_conf|unbound_conf|named_zones|pdnsd_conf|pdns_zones)=/m

/** Which addresses are the machine's own resolver; without this setting every loopback address is. */
const OWN_RESOLVERS = /^[ \t]*local_nameservers=(?!.*127\.\*)/m

/** The last of all interfaces: the search domain of the mesh comes after others. */
const METRIC = '9999'

/**
 * Split DNS by openresolv, where it configures a local resolver (dnsmasq, unbound, BIND, PowerDNS) and does not take every
 * loopback address for that resolver. Else, and with Debian's `resolvconf`, every name of the machine would be sent to the
 * resolver of the mesh: these are not used. `mesh` becomes a search domain too, as openresolv has no zones without that.
 */
export function createOpenresolv({ run, system, interfaceName }: SplitDnsDeps): SplitDns {
  const record = `${interfaceName}.ctl`
  return {
    way: 'resolvconf',
    async configure(address) {
      try {
        const why = await unusable()
        return why === undefined ? await add(address) : notConfigured(why)
      } catch (error) {
        return notConfigured(`resolvconf cannot be used: ${reasonOf(error)}`)
      }
    },
    async remove() {
      if ((await isInOtherNetwork(system)) || !(await isOpenresolv())) return
      const { exitCode, stderr } = await run('resolvconf', ['-f', '-d', record])
      if (exitCode === 0) return
      throw new CliError(`resolvconf kept the names of ${interfaceName}: ${stderr.trim()}.`, {
        exitCode: EXIT.failed,
        code: 'names_not_removed',
        hints: [`Try: resolvconf -f -d ${record}`],
      })
    },
  }

  async function isOpenresolv(): Promise<boolean> {
    try {
      return (await run('resolvconf', ['--version'])).stdout.startsWith('openresolv')
    } catch (error) {
      if (isMissingProgram(error)) return false
      throw error
    }
  }

  /** Why this machine has no openresolv with a local resolver. */
  async function unusable(): Promise<string | undefined> {
    if (!(await isOpenresolv())) return 'openresolv is not installed'
    if (await isInOtherNetwork(system)) return 'openresolv serves another network namespace'
    const settings = await existingText(system.openresolvConfig)
    if (!LOCAL_RESOLVER.test(settings))
      return `openresolv has no local resolver such as dnsmasq in ${system.openresolvConfig}`
    if (OWN_RESOLVERS.test(settings)) return undefined
    return `openresolv takes every loopback address for the resolver of the machine: set local_nameservers=127.0.0.1 in ${system.openresolvConfig}`
  }

  /** Adds the record as a private one: only for its own domain. */
  async function add(address: string): Promise<Configured> {
    const stdin = `search ${ZONE}\nnameserver ${address}\n`
    const { exitCode, stderr } = await run('resolvconf', ['-m', METRIC, '-p', '-a', record], { stdin })
    const isForEverything = (await existingText(system.resolvConf)).includes(address)
    if (exitCode === 0 && !isForEverything) return { isConfigured: true, fault: undefined }
    await run('resolvconf', ['-f', '-d', record])
    return notConfigured(
      isForEverything
        ? `openresolv put the resolver into ${system.resolvConf}`
        : `openresolv refused: ${stderr.trim()}`,
    )
  }
}
