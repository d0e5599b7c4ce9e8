import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentError, reasonOf, systemCode } from '../../errors.ts'

/** Which interfaces the kernel takes packets from that are for other machines. IPv4 alone: the mesh has no other addresses. */
export interface ForwardingSetting {
  /**
   * Lets the kernel forward what comes in through these interfaces, and no longer what comes in through those of the call before.
   * The setting of the whole machine stays. Interfaces that are not there are left out. @throws CliError
   */
  set(interfaces: readonly string[]): void
}

const SETTINGS = '/proc/sys/net/ipv4/conf'

/** Makes it. `earlier`: interfaces that an earlier process may have let forward. `folder` has the settings of each interface. */
export function createForwardingSetting(earlier: readonly string[], folder = SETTINGS): ForwardingSetting {
  let ours: ReadonlySet<string> = new Set(earlier)
  const fileOf = (name: string): string => join(folder, name, 'forwarding')

  function write(name: string, value: string): void {
    try {
      if (readFileSync(fileOf(name), 'utf8').trim() !== value) writeFileSync(fileOf(name), `${value}\n`)
    } catch (error) {
      // The interface is not there now.
      if (systemCode(error) !== 'ENOENT') throw refused(name, error)
    }
  }

  return {
    set(interfaces) {
      const wanted = new Set(interfaces)
      const over = [...ours].filter((name) => !wanted.has(name))
      ours = new Set([...wanted, ...over])
      for (const name of wanted) write(name, '1')
      // What an interface of this machine begins with: an administrator may have let all of them forward.
      for (const name of over) write(name, readFileSync(fileOf('default'), 'utf8').trim())
      ours = wanted
    },
  }
}

function refused(name: string, cause: unknown) {
  return agentError('forwarding_refused', `net.ipv4.conf.${name}.forwarding cannot be written: ${reasonOf(cause)}`, {
    hints: ['A unit that an older version has written forbids it: run "ctl agent install" again.'],
    cause,
  })
}
