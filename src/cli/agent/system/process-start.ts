import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * When a process was started, in clock ticks since the machine was: field 22 of `/proc/<pid>/stat` (proc(5)), which every user may
 * read. It distinguishes a process from a later one with the same number. Undefined where there is no such process, or a zombie.
 */
export function startTimeOf(pid: number, folder = '/proc'): string | undefined {
  try {
    const stat = readFileSync(join(folder, String(pid), 'stat'), 'utf8')
    // The name, in parentheses, may have blanks.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' ? undefined : fields[18]
  } catch {
    // ENOENT or ESRCH: it ended before the file was read.
    return undefined
  }
}
