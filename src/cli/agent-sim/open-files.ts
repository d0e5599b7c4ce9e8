import { readFileSync } from 'node:fs'
import { CliError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/exit-code.ts'
import type { CallConnections } from './light/light-transport.ts'

/** What needs open files in a process. */
export interface FileNeeds {
  /** In all processes. */
  readonly nodes: number
  /** Of the process that has most. */
  readonly nodesOfProcess: number
  readonly hasStreams: boolean
  readonly connections: CallConnections
}

/** Files that are open besides: the comparison of streams, the calls of operators, the pull thread, the program itself. */
const OTHER_FILES = 320

/** @throws CliError if a process needs more open files than `max`. Undefined: the limit is unknown, and nothing is refused. */
export function assertOpenFiles(needs: FileNeeds, max = openFilesMax()): void {
  const { nodes, nodesOfProcess, hasStreams, connections } = needs
  const isOwn = connections === 'own'
  const perNode = (hasStreams ? 1 : 0) + (isOwn ? 1 : 0)
  const fixed = OTHER_FILES + (isOwn ? 0 : connections)
  const needed = fixed + perNode * nodesOfProcess
  if (max === undefined || needed <= max) return
  const nodesMax = Math.floor((max - fixed) / Math.max(1, perNode))
  const workers = nodesMax > 0 ? `give --workers ${Math.ceil(nodes / nodesMax)}, or raise` : 'raise'
  throw new CliError(
    `${nodesOfProcess} nodes need ${needed} open files in one process, and its limit is ${max}: ${workers} the limit (ulimit -n)`,
    { exitCode: EXIT.usage, code: 'too_few_open_files' },
  )
}

/** The soft limit of this process; undefined where the system has no `/proc`. */
function openFilesMax(): number | undefined {
  try {
    const text = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return text === undefined ? undefined : Number(text)
  } catch {
    return undefined
  }
}
