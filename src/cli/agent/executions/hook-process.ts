import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { TIMER_MS_MAX } from '../../../client/agent/agent-clock.ts'
import type { OpenHook } from './hook-file.ts'
import { collectOutput } from './hook-output.ts'

export interface HookCall {
  readonly executionId: string
  /** Written to its stdin as JSON. */
  readonly parameters: Readonly<Record<string, unknown>>
  readonly args?: readonly string[]
  /** Variables beside the usual ones. */
  readonly env?: Readonly<Record<string, string>>
  /** Time after which it is killed, in ms. */
  readonly timeoutMs: number
  /** Kills it when it is aborted. */
  readonly signal: AbortSignal
}

/** How a hook ended. `exitCode` of one that a signal ended is 128 and the number of the signal. */
export interface HookEnd {
  readonly exitCode: number | undefined
  readonly output: string
  /** Undefined: it ended by itself, with an exit code of its own. */
  readonly fault: 'not_started' | 'timeout' | 'aborted' | 'signal' | undefined
  /** The system's code for `not_started`, the signal's name for `signal`. */
  readonly detail: string | undefined
}

/** The descriptor of the hook in its own process. Scripts are read from it by their interpreter, so that it stays open. */
const HOOK_FD = 3
/** How long the last output may take after the process has ended; something that it left behind may hold the pipe. */
const LAST_OUTPUT_MS = 250

/** Runs a hook from its open file: no path is looked up again, and no shell is started. Never rejects. */
export async function runHook(hook: OpenHook, call: HookCall): Promise<HookEnd> {
  const output = collectOutput()
  let child: ChildProcess
  try {
    child = start(hook, call)
  } catch (error) {
    return { exitCode: undefined, output: '', fault: 'not_started', detail: codeOf(error) }
  }
  for (const stream of [child.stdout, child.stderr]) if (stream) output.collect(stream)
  // A hook need not read its parameters.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(JSON.stringify(call.parameters))
  const closed = once(child, 'close').catch(() => undefined)
  const { fault, exitCode, detail } = await ended(child, call)
  killGroup(child)
  await Promise.race([closed, elapsed(LAST_OUTPUT_MS)])
  child.stdout?.destroy()
  child.stderr?.destroy()
  return { fault, exitCode, detail, output: output.text() }
}

/** The hook leads a process group of its own, so that everything that it starts can be killed with it. */
function start({ file, name }: OpenHook, { executionId, args = [], env }: HookCall): ChildProcess {
  return spawn(`/proc/self/fd/${HOOK_FD}`, args, {
    argv0: name,
    cwd: '/',
    detached: true,
    env: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: '/root',
      LANG: 'C.UTF-8',
      CTL_EXECUTION_ID: executionId,
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe', file.fd],
  })
}

type Ending = Omit<HookEnd, 'output'>

function ended(child: ChildProcess, { timeoutMs, signal }: HookCall): Promise<Ending> {
  return new Promise((resolve) => {
    let stopped: 'timeout' | 'aborted' | undefined
    const stop = (why: 'timeout' | 'aborted') => (): void => {
      stopped ??= why
      killGroup(child)
    }
    const [expire, abort] = [stop('timeout'), stop('aborted')]
    const timer = setTimeout(expire, Math.min(Math.max(0, timeoutMs), TIMER_MS_MAX))
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    const settle = (ending: Ending): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      resolve(ending)
    }
    child.once('error', (error) => settle({ fault: 'not_started', exitCode: undefined, detail: codeOf(error) }))
    child.once('exit', (code, by) => {
      const exitCode = code ?? 128 + (by === null ? 0 : constants.signals[by])
      settle({ exitCode, fault: stopped ?? (by === null ? undefined : 'signal'), detail: by ?? undefined })
    })
  })
}

/** Kills what is left of the hook and of what it started. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    // ESRCH: everything has ended. EPERM: only programs of another user are left, which an agent without root cannot kill.
    if (!['ESRCH', 'EPERM'].includes(codeOf(error))) throw error
  }
}

function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
