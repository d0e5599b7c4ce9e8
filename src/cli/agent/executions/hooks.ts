import { readdir, type FileHandle } from 'node:fs/promises'
import type { End } from '../../../client/agent/executions/execution.ts'
import type { PulledExecution } from '../../../client/agent/state/snapshot.ts'
import { openHook, type OpenHook } from './hook-file.ts'
import { runHook, type HookEnd } from './hook-process.ts'
import { openTrustedFolder, pathOf, UntrustedPath } from './trusted-path.ts'

/** Where the hooks of a node are. */
export const HOOKS_FOLDER = '/etc/ctl/hooks'

/** A hook as capabilities declare it. */
export interface DeclaredHook {
  readonly name: string
  /** SHA-256, 64 hex digits. */
  readonly checksum: string
}

export interface ListedHooks {
  /** Sorted by name; at most 256. */
  readonly hooks: readonly DeclaredHook[]
  /** Why files of the folder, or the folder, are not used; sentences for the log. */
  readonly refused: readonly string[]
}

/** An integrity violation of a hook, ready to be reported. */
export interface HookViolation {
  readonly kind: 'hook'
  readonly artifact: string
  readonly expected_checksum: string
  /** Undefined where there is no file that could be read safely. */
  readonly observed_checksum?: string
  readonly detected_at: string
}

export interface HookOutcome {
  readonly end: End
  /** The hook is not the declared one and was not run. */
  readonly violation: HookViolation | undefined
}

/** The hooks of a node: programs in one folder, which root alone can change. */
export interface Hooks {
  /** Reads the folder. One that does not exist has no hooks. */
  list(): Promise<ListedHooks>
  /**
   * Runs the hook that an execution names, unless its content differs from the declared one. Kills it when the execution
   * expires or the signal is aborted, and with it everything that it left running in its process group.
   *
   * @param declared what the last accepted capabilities declared
   */
  run(execution: PulledExecution, declared: readonly DeclaredHook[], signal: AbortSignal): Promise<HookOutcome>
}

export interface HooksOptions {
  /** Absolute; `/etc/ctl/hooks` by default. */
  readonly folder?: string
  /** Milliseconds since the epoch. */
  readonly clock: { now(): number }
}

/** Maximum of hooks of a node (docs/agent-protocol.md: Capabilities). */
const HOOKS_MAX = 256

/** Opens nothing yet: the folder is checked at every use. */
export function createHooks({ folder = HOOKS_FOLDER, clock }: HooksOptions): Hooks {
  return {
    async list() {
      try {
        return await within(folder, listIn)
      } catch (error) {
        if (!(error instanceof UntrustedPath)) throw error
        return { hooks: [], refused: error.code === 'ENOENT' ? [] : [error.message] }
      }
    },
    async run(execution, declared, signal) {
      const { action } = execution
      const expected = declared.find(({ name }) => name === action)
      if (expected === undefined) return { end: failed(`this agent has no hook ${action}`), violation: undefined }
      const violation = { kind: 'hook', artifact: action, expected_checksum: expected.checksum } as const
      const detectedAt = (): string => new Date(clock.now()).toISOString()
      try {
        const hook = await within(folder, (opened) => openHook(opened, action))
        if (hook.checksum === expected.checksum)
          return { end: await perform(hook, { execution, signal, nowMs: clock.now() }), violation: undefined }
        await hook.close()
        return {
          end: failed(`the hook ${action} differs from the one that was declared; it was not run`),
          violation: { ...violation, observed_checksum: hook.checksum, detected_at: detectedAt() },
        }
      } catch (error) {
        if (!(error instanceof UntrustedPath)) throw error
        return {
          end: failed(`the hook ${action} was not run: ${error.message}`),
          violation: { ...violation, detected_at: detectedAt() },
        }
      }
    },
  }
}

async function within<T>(path: string, use: (folder: FileHandle) => Promise<T>): Promise<T> {
  const folder = await openTrustedFolder(path)
  try {
    return await use(folder)
  } finally {
    await folder.close()
  }
}

async function listIn(folder: FileHandle): Promise<ListedHooks> {
  const hooks: DeclaredHook[] = []
  const refused: string[] = []
  for (const name of (await readdir(pathOf(folder))).toSorted()) {
    try {
      if (hooks.length >= HOOKS_MAX) throw new UntrustedPath(name, `is over the bound of ${HOOKS_MAX} hooks`)
      const hook = await openHook(folder, name)
      await hook.close()
      hooks.push({ name, checksum: hook.checksum })
    } catch (error) {
      if (!(error instanceof UntrustedPath)) throw error
      refused.push(error.message)
    }
  }
  return { hooks, refused }
}

interface Performing {
  readonly execution: PulledExecution
  readonly signal: AbortSignal
  readonly nowMs: number
}

async function perform(hook: OpenHook, { execution, signal, nowMs }: Performing): Promise<End> {
  try {
    const ended = await runHook(hook, {
      executionId: execution.execution_id,
      parameters: execution.parameters ?? {},
      timeoutMs: Date.parse(execution.expires_at) - nowMs,
      signal,
    })
    return endOf(hook.name, ended)
  } finally {
    await hook.close()
  }
}

const FAULTS: Readonly<Record<NonNullable<HookEnd['fault']>, (name: string, detail: string) => string>> = {
  not_started: (name, detail) => `the hook ${name} cannot be started (${detail}); is its interpreter there?`,
  timeout: (name) => `the hook ${name} was killed when the execution expired`,
  aborted: (name) => `the hook ${name} was killed because the execution was given up`,
  signal: (name, detail) => `the hook ${name} was ended by ${detail}`,
}

function endOf(name: string, { exitCode, output, fault, detail = '' }: HookEnd): End {
  const status = fault === undefined && exitCode === 0 ? 'succeeded' : fault === 'aborted' ? 'cancelled' : 'failed'
  return {
    callback: {
      status,
      output,
      ...(exitCode !== undefined && { exit_code: exitCode }),
      ...(fault !== undefined && { error: FAULTS[fault](name, detail) }),
    },
  }
}

function failed(error: string): End {
  return { callback: { status: 'failed', error } }
}
