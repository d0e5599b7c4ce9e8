import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { builtFile } from '../../../shared/package-files.ts'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import type { Place } from '../place.ts'
import { SERVICE_VARIABLE, TRIAL_VARIABLE } from '../upgrade/upgrading.ts'
import { AGENT_NODE_OPTIONS } from './node-options.ts'

/** What a starting agent reports to the process that started it. */
export type StartReport =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'failed'
      readonly message: string
      readonly code: string
      readonly hints: readonly string[]
      readonly exitCode: ExitCode
    }

/** Variables that the agent needs; no other one of the caller stays with it. */
const KEPT_VARIABLES = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
] as const

/** Longer than an agent takes to report, whatever server and name servers do. */
const START_MS_MAX = 120_000

/**
 * Starts the agent as a process of its own and waits until it reports. Resolves with its process id.
 *
 * @throws CliError with what the agent reports, or where it ends without a report.
 */
export async function startInBackground(place: Place): Promise<number> {
  const child = spawnAgent(place, ['agent', 'run', '--state-dir', place.directory])
  try {
    const report = await reportOf(child, place)
    if (report.kind === 'ready') return child.pid ?? 0
    throw new CliError(report.message, { exitCode: report.exitCode, code: report.code, hints: report.hints })
  } finally {
    if (child.connected) child.disconnect()
    child.unref()
  }
}

/** Starts the command line that this process was started with once more, for when it has ended. */
export function startSuccessor(): void {
  startAgain({ detached: true, env: agentEnvironment() }).unref()
}

/** Starts the command line that this process was started with once more, to be watched by this one. */
export function startTrial(): ChildProcess {
  const service = process.env[SERVICE_VARIABLE]
  const env = { ...agentEnvironment(), [TRIAL_VARIABLE]: `${process.pid}` }
  return startAgain({ env: service === undefined ? env : { ...env, [SERVICE_VARIABLE]: service } })
}

function startAgain(options: Pick<SpawnOptions, 'detached' | 'env'>): ChildProcess {
  return spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], { ...options, stdio: 'inherit' })
}

/** The one file of the agent, which an upgrade of the package does not change while it runs; this program where it was not built. */
function agentProgram(): string {
  const built = fileURLToPath(builtFile('agent/ctl-agent.cjs'))
  return existsSync(built) ? built : (process.argv[1] ?? '')
}

function spawnAgent(place: Place, args: readonly string[]): ChildProcess {
  // What Node itself prints, such as a fault that ends it, goes to the log as well.
  const log = openSync(place.log, 'a', 0o600)
  try {
    return spawn(process.execPath, [...process.execArgv, agentProgram(), ...args], {
      detached: true,
      stdio: ['ignore', log, log, 'ipc'],
      cwd: '/',
      env: agentEnvironment(),
    })
  } finally {
    closeSync(log)
  }
}

function agentEnvironment(): Record<string, string> {
  const kept = KEPT_VARIABLES.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries([...kept, ['NODE_OPTIONS', AGENT_NODE_OPTIONS]])
}

function reportOf(child: ChildProcess, place: Place): Promise<StartReport> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      child.kill('SIGKILL')
      reject(unreported(`the agent did not report within ${START_MS_MAX / 1000} s and was killed`, place))
    }, START_MS_MAX)
    const settle = (act: () => void) => (): void => {
      clearTimeout(late)
      act()
    }
    child.once('message', (report) => settle(() => resolve(report as StartReport))())
    child.once('error', (error) => settle(() => reject(error))())
    child.once('exit', (code) =>
      settle(() => reject(unreported(`the agent ended with status ${code ?? 'unknown'}`, place)))(),
    )
  })
}

function unreported(message: string, { log }: Place): CliError {
  return new CliError(message, {
    exitCode: EXIT.failed,
    code: 'agent_not_started',
    hints: [`Its log has the reason: ${log}`],
  })
}

/** Reports to the process that started this one; nothing where none waits any more. */
export async function reportStart(report: StartReport): Promise<void> {
  if (process.send === undefined || !process.connected) return
  await new Promise<void>((resolve) => {
    // The other process may have ended meanwhile, which the agent does not depend on.
    process.send?.(report, undefined, {}, () => resolve())
  })
  if (process.connected) process.disconnect()
}
