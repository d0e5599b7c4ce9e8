import { explained } from '../errors.ts'
import type { HostsFile } from './hosts-file.ts'
import type { NamesService } from './names-service.ts'
import type { MeshName } from './name-table.ts'

/**
 * Gives the names to this machine by a block in the hosts file. Writes follow each other; of those that wait only the last
 * one is made. Names of an earlier run stay until the first of them, because a server may be away for long.
 *
 * @throws CliError where the file cannot take a block.
 */
export async function openHostsNames(hosts: HostsFile, log: (line: string) => void): Promise<NamesService> {
  await hosts.create()
  let fault: string | undefined
  let wanted: readonly MeshName[] = []
  let writing: Promise<void> = Promise.resolve()

  async function write(names: readonly MeshName[]): Promise<void> {
    if (names !== wanted) return
    try {
      await hosts.write(names)
      fault = undefined
    } catch (error) {
      const next = explained(error)
      if (next !== fault) log(next)
      fault = next
    }
  }

  return {
    publish(names) {
      wanted = names
      writing = writing.then(() => write(names))
      return writing
    },
    status: () => ({ way: 'hosts-file', listen: undefined, fault }),
    close: () => writing,
  }
}
