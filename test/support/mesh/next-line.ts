import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** The next line that a process prints. @throws Error where it ends before. */
export async function nextLine(child: ChildProcess, stream: 'stdout' | 'stderr'): Promise<string> {
  const input = child[stream]
  if (input === null) throw new Error(`${stream} is not piped`)
  const lines = createInterface({ input })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${child.spawnargs.join(' ')} ended with ${String(code)} before it printed a line`)
  })
  ended.catch(() => undefined)
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string]
  return line
}
