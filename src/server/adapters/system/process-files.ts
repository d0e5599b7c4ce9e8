import { readFileSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import type { ProcessFiles } from '../../ports/process-files.ts'

const LIMITS = '/proc/self/limits'
const OPEN = '/proc/self/fd'

/**
 * The open files of this process; undefined where the system has no `/proc`, or no limit. Node raises the soft limit to the hard
 * one when it starts, and nothing changes it later.
 */
export function openProcessFiles(): ProcessFiles | undefined {
  const max = maxOf(limitsText())
  return max === undefined ? undefined : { max, count: () => countIn(OPEN) }
}

/** The soft limit that a text like `/proc/self/limits` has; undefined where there is none. */
export function maxOf(limits: string): number | undefined {
  const text = /^Max open files +(\d+)/m.exec(limits)?.[1]
  return text === undefined ? undefined : Number(text)
}

function limitsText(): string {
  try {
    return readFileSync(LIMITS, 'utf8')
  } catch {
    return ''
  }
}

/**
 * Linux 6.2 and newer say the number as the size of the folder, which needs no file. Before that the folder is read, outside the
 * event loop; that opens one file, and fails where none is left.
 */
async function countIn(folder: string): Promise<number | undefined> {
  try {
    const { size } = await stat(folder)
    return size > 0 ? size : (await readdir(folder)).length - 1
  } catch {
    return undefined
  }
}
