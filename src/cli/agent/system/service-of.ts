import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Whether a process belongs to the same service of systemd as this one. Where this one is no service, every process does. One that was
 * started from a terminal ends with that session, and has rights that the service does not have.
 */
export function isOfThisService(pid: number, folder = '/proc'): boolean {
  const own = cgroupOf(join(folder, 'self'))
  return own?.endsWith('.service') !== true || cgroupOf(join(folder, String(pid))) === own
}

/** The control group of systemd (cgroups(7)): that of the unified hierarchy, or the one that is named so. */
function cgroupOf(folder: string): string | undefined {
  try {
    return /^(?:0:|\d+:name=systemd):(.*)$/m.exec(readFileSync(join(folder, 'cgroup'), 'utf8'))?.[1]
  } catch {
    // It has ended since.
    return undefined
  }
}
