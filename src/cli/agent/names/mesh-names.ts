import { CliError, usageError } from '../../errors/cli-error.ts'
import { explained } from '../errors.ts'
import type { RunProgram } from '../system/run-program.ts'
import { acceptNames } from './accept-names.ts'
import { createHostsFile, type HostsFile } from './hosts-file.ts'
import { openHostsNames } from './hosts-names.ts'
import type { NamesService, NamesStatus } from './names-service.ts'
import type { MeshName } from './name-table.ts'
import { LINUX, type NamesSystem } from './names-system.ts'
import { createOpenresolv } from './openresolv.ts'
import { createRejectionLog } from './rejection-log.ts'
import { createResolved } from './resolved.ts'
import { openResolverNames } from './resolver-names.ts'
import type { SplitDns } from './split-dns.ts'

export type { MeshName, NamesStatus }

/** The names of one mesh interface on this machine. */
export interface MeshNames {
  /**
   * Replaces all names. Names that are not DNS labels are left out and logged once. A failure is in `status()` and the log. Does
   * nothing once the names have ended, so that work which is still under way leaves nothing behind.
   */
  publish(names: readonly MeshName[]): Promise<void>
  status(): NamesStatus
  /**
   * Ends the resolver and takes back what was configured or written.
   *
   * @throws CliError where something is left behind.
   */
  remove(): Promise<void>
  /** Ends the resolver; what was configured or written stays for the next run. */
  close(): Promise<void>
}

export interface MeshNamesOptions {
  /** `auto`: a resolver and split DNS; `hosts`: a block in the hosts file, no resolver; `none`: nothing. */
  readonly way: 'auto' | 'hosts' | 'none'
  readonly interfaceName: string
  readonly run: RunProgram
  readonly log: (line: string) => void
  /** Paths and addresses; those of Linux by default. */
  readonly system?: NamesSystem
}

/** Kernel names of interfaces; this one is part of arguments, paths and a line of the hosts file. */
const INTERFACE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}$/

/**
 * Opens the names of a mesh interface. What an earlier run left of the other ways is removed first. A machine on which
 * names cannot work is no error: `status()` has the reason.
 *
 * @throws CliError `hosts_block_broken`, `hosts_file_unwritable` with the way `hosts`.
 */
export async function openMeshNames(options: MeshNamesOptions): Promise<MeshNames> {
  const { way, interfaceName, run, log, system = LINUX } = options
  if (!INTERFACE_NAME.test(interfaceName)) throw usageError('The name of the interface is not one that Linux takes.')
  const hosts = createHostsFile(system.hostsFile, interfaceName)
  const splitDns = [createResolved, createOpenresolv].map((create) => create({ run, system, interfaceName }))
  const others = [...(way === 'hosts' ? [] : [hosts]), ...(way === 'auto' ? [] : splitDns)]
  for (const error of await failuresOfRemoving(others)) log(explained(error))
  const service = await open({ way, hosts, splitDns, system, interfaceName, log })
  const logRejected = createRejectionLog(log)
  let isEnded = false

  async function end(): Promise<void> {
    isEnded = true
    await service.close()
  }

  return {
    async publish(names) {
      if (isEnded) return
      const { accepted, rejected } = acceptNames(names)
      logRejected(rejected)
      await service.publish(accepted)
    },
    status: () => service.status(),
    close: end,
    async remove() {
      await end()
      const [error] = await failuresOfRemoving([hosts, ...splitDns])
      if (error !== undefined) throw error
    },
  }
}

interface OpenOptions {
  readonly way: MeshNamesOptions['way']
  readonly hosts: HostsFile
  readonly splitDns: readonly SplitDns[]
  readonly system: NamesSystem
  readonly interfaceName: string
  readonly log: (line: string) => void
}

async function open({ way, hosts, ...rest }: OpenOptions): Promise<NamesService> {
  if (way === 'auto') return await openResolverNames(rest)
  if (way === 'hosts') return await openHostsNames(hosts, rest.log)
  return {
    publish: async () => undefined,
    status: () => ({ way: 'none', listen: undefined, fault: undefined }),
    close: async () => undefined,
  }
}

/** Removes each, also after one has failed. */
async function failuresOfRemoving(parts: readonly { remove(): Promise<void> }[]): Promise<readonly CliError[]> {
  const failures: CliError[] = []
  for (const part of parts) {
    try {
      await part.remove()
    } catch (error) {
      if (!(error instanceof CliError)) throw error
      failures.push(error)
    }
  }
  return failures
}
