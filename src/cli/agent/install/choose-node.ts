import { realpath } from 'node:fs/promises'
import { agentError } from '../errors.ts'
import type { RunProgram } from '../system/run-program.ts'
import { distrustOf } from './trusted-file.ts'
import { hiddenFolder } from './unit-path.ts'

/** Where packages of distributions and of Node itself put it. */
const USUAL = ['/usr/bin/node', '/usr/local/bin/node'] as const
/** As package.json has it. */
const OLDEST = [20, 19] as const

/** Where Node is looked for. */
export interface NodeSearch {
  /** The one that runs this program. */
  readonly running: string
  readonly usual?: readonly string[]
  readonly run: RunProgram
}

/**
 * The Node that the service runs: the one that runs this program, else one that is installed for the whole machine. Nothing is
 * copied: a Node of a user's version manager is not updated with the machine.
 *
 * @throws CliError where there is none that only root can change and that services see, with the reason for each.
 */
export async function chooseNode({ running, usual = USUAL, run }: NodeSearch): Promise<string> {
  const refusals: string[] = []
  for (const path of [running, ...usual]) {
    const refusal = await refusalOf(path, run)
    if (refusal === undefined) return path
    if (!refusals.includes(refusal)) refusals.push(refusal)
  }
  throw agentError('no_system_node', `there is no Node that a service can run: ${refusals.join('; ')}`, {
    hints: [
      `Install Node ${OLDEST.join('.')} or newer for the whole machine, with its package manager or in /usr/local.`,
    ],
  })
}

async function refusalOf(path: string, run: RunProgram): Promise<string | undefined> {
  const file = await realpath(path).catch(() => undefined)
  if (file === undefined) return `${path} does not exist`
  const hidden = hiddenFolder(path) ?? hiddenFolder(file)
  if (hidden !== undefined) return `${path} is in ${hidden}, which services do not see`
  const distrust = await distrustOf(path)
  if (distrust !== undefined) return distrust
  const { stdout } = await run(path, ['--version'])
  return isNewEnough(stdout) ? undefined : `${path} is ${stdout.trim() === '' ? 'no Node' : stdout.trim()}`
}

function isNewEnough(version: string): boolean {
  const [, major = 0, minor = 0] = (/^v(\d+)\.(\d+)\./.exec(version) ?? []).map(Number)
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
}
