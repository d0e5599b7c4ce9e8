import { readlink } from 'node:fs/promises'
import { systemCode } from '../errors.ts'
import type { NamesSystem } from './names-system.ts'

/** Why a namespace cannot be read: there is no such process, or this one may not look at it. */
const HIDDEN = new Set(['ENOENT', 'EACCES', 'EPERM'])

/**
 * Whether this process is in another network namespace than the first process of the machine. The resolvers of the machine are
 * reached from all namespaces, because they share files and the bus. They would take the interface of this process for one of
 * their own: systemd-resolved is given its index, which an uplink of the machine may have too. Where the kernel hides the
 * namespace of the first process, as in the unit of the agent, there is one for both.
 */
export async function isInOtherNetwork({ ownNetwork, machineNetwork }: NamesSystem): Promise<boolean> {
  const [own, machine] = await Promise.all([targetOf(ownNetwork), targetOf(machineNetwork)])
  return own !== undefined && machine !== undefined && own !== machine
}

async function targetOf(link: string): Promise<string | undefined> {
  try {
    return await readlink(link)
  } catch (error) {
    if (HIDDEN.has(systemCode(error))) return undefined
    throw error
  }
}
