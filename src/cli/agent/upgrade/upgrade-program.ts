import { openHook, type OpenHook } from '../executions/hook-file.ts'
import { runHook, type HookEnd } from '../executions/hook-process.ts'
import { openTrustedFolder, UntrustedPath } from '../executions/trusted-path.ts'
import type { PulledExecution } from '../../../client/agent/state/snapshot.ts'

/** Where the program of the administrator is that brings a release to this machine. */
export const UPGRADE_FOLDER = '/etc/ctl'
const NAME = 'upgrade'

/** What the program is to do. */
export interface UpgradeCall {
  readonly folder: string
  readonly execution: PulledExecution
  readonly version: string
  readonly checksum: string
  /** The file that it is to replace. */
  readonly path: string
  readonly nowMs: number
  readonly signal: AbortSignal
}

/** How the program ended. */
export interface UpgradeProgramEnd {
  readonly output: string
  /** Undefined: it has ended with exit code 0. */
  readonly failure: string | undefined
  /** It was killed because the execution was given up. */
  readonly isGivenUp: boolean
}

/** Runs the program from its open file, as hooks are. */
export async function runUpgradeProgram(call: UpgradeCall): Promise<UpgradeProgramEnd> {
  const { folder, execution, version, checksum, path, nowMs, signal } = call
  let program: OpenHook
  try {
    program = await opened(folder)
  } catch (error) {
    if (!(error instanceof UntrustedPath)) throw error
    return { output: '', failure: refusal(folder, error), isGivenUp: false }
  }
  try {
    const ended = await runHook(program, {
      executionId: execution.execution_id,
      parameters: execution.parameters ?? {},
      args: [version],
      env: { CTL_VERSION: version, CTL_CHECKSUM: checksum, CTL_AGENT_FILE: path },
      timeoutMs: Date.parse(execution.expires_at) - nowMs,
      signal,
    })
    return {
      output: ended.output,
      failure: failureOf(`${folder}/${NAME}`, ended),
      isGivenUp: ended.fault === 'aborted',
    }
  } finally {
    await program.close()
  }
}

async function opened(path: string): Promise<OpenHook> {
  const folder = await openTrustedFolder(path)
  try {
    return await openHook(folder, NAME)
  } finally {
    await folder.close()
  }
}

function refusal(folder: string, { code, message }: UntrustedPath): string {
  if (code === 'ENOENT')
    return `this machine has no ${folder}/${NAME}: put a program there that replaces the file of the agent, or install the release by hand`
  return `${folder}/${NAME} was not run: ${message}`
}

const FAULTS: Readonly<Record<NonNullable<HookEnd['fault']>, (detail: string) => string>> = {
  not_started: (detail) => `cannot be started (${detail}); is its interpreter there?`,
  timeout: () => 'was killed when the execution expired',
  aborted: () => 'was killed because the execution was given up',
  signal: (detail) => `was ended by ${detail}`,
}

function failureOf(path: string, { fault, detail = '', exitCode }: HookEnd): string | undefined {
  if (fault !== undefined) return `${path} ${FAULTS[fault](detail)}`
  return exitCode === 0 ? undefined : `${path} ended with exit code ${exitCode ?? 'unknown'}`
}
