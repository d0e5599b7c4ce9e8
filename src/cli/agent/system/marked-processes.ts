import { readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Variables of the environment by which a process is found again, also by a later process of the agent. Only root and the
 * user of the process can read them.
 */
export type Marks = Readonly<Record<string, string>>

/**
 * Processes of this user in this network namespace whose environment has all of the marks. Another user may know the marks and set
 * them; an agent in a container may have the same ones. A process that has ended without being reaped has no environment.
 */
export function markedProcesses(marks: Marks, folder = '/proc'): readonly number[] {
  // Every process has all of no marks.
  if (Object.keys(marks).length === 0) throw new Error('a process is found by one mark at least')
  const own = originOf(folder, 'self')
  return readdirSync(folder)
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => isMarked(pid, marks, folder) && originOf(folder, String(pid)) === own)
}

/** Whether the process runs and has all of the marks. */
export function isMarked(pid: number, marks: Marks, folder = '/proc'): boolean {
  try {
    const entries = new Set(readFileSync(join(folder, String(pid), 'environ'), 'utf8').split('\0'))
    return Object.entries(marks).every(([name, value]) => entries.has(`${name}=${value}`))
  } catch {
    // It has ended since, or it is a process that this one may not look at, and so none of the agent's.
    return false
  }
}

/** The real user, whatever program the process runs, and the network namespace. Undefined: it has ended since. */
function originOf(folder: string, pid: string): string | undefined {
  try {
    const user = /^Uid:\s+(\d+)/m.exec(readFileSync(join(folder, pid, 'status'), 'utf8'))?.[1]
    return `${user} ${readlinkSync(join(folder, pid, 'ns/net'))}`
  } catch {
    return undefined
  }
}
