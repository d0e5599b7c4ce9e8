import { readFileSync } from 'node:fs'

/** Files that a process of this machine may have open. Linux alone. */
export function openFilesLimit() {
  return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
}
