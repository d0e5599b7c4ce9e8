import { spawn, type ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { EXIT } from '../../errors/exit-code.ts'
import { CliError } from '../../errors/cli-error.ts'
import { cleanEnvironment } from './clean-environment.ts'
import { memoryFile } from './memory-file.ts'
import { missingProgram } from './missing-program.ts'

/** What a program printed, and its exit status: 128 and the number of the signal where a signal ended it. */
export interface ProgramResult {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

/**
 * Runs a program without a shell, with a clean environment. `stdin` is what it reads, also as `/dev/stdin`. The program is killed
 * after `timeoutMs` (10 s), and once it has printed more than 16 MiB.
 *
 * @throws CliError where the program is not installed, is killed, or cannot be started. Another exit status than 0 is no error.
 */
export type RunProgram = (
  program: string,
  args: readonly string[],
  options?: { readonly stdin?: Uint8Array | string; readonly timeoutMs?: number },
) => Promise<ProgramResult>

const TIMEOUT_MS = 10_000
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024

/** Runs programs of this machine. */
export const runProgram: RunProgram = async (program, args, options = {}) => {
  const stdin = options.stdin === undefined ? undefined : memoryFile(options.stdin)
  try {
    // A group of its own, so that a program is killed with its children.
    const child = spawn(program, args, {
      env: cleanEnvironment(),
      detached: true,
      stdio: [stdin?.fd ?? 'ignore', 'pipe', 'pipe'],
    })
    return await collect(child, program, options.timeoutMs ?? TIMEOUT_MS)
  } finally {
    stdin?.close()
  }
}

function collect(child: ChildProcess, program: string, timeoutMs: number): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const output = { stdout: [] as Buffer[], stderr: [] as Buffer[], bytes: 0 }
    const fail = (error: Error) => {
      clearTimeout(timer)
      killGroup(child)
      reject(error)
    }
    const timer = setTimeout(() => fail(killed(program, `did not end within ${timeoutMs / 1000} s`)), timeoutMs)
    const take = (part: 'stdout' | 'stderr') => (chunk: Buffer) => {
      output.bytes += chunk.byteLength
      output[part].push(chunk)
      if (output.bytes > OUTPUT_BYTES_MAX) fail(killed(program, 'printed more than 16 MiB'))
    }
    child.stdout?.on('data', take('stdout'))
    child.stderr?.on('data', take('stderr'))
    child.once('error', (error: NodeJS.ErrnoException) => fail(notStarted(program, error)))
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      resolve({ stdout: text(output.stdout), stderr: text(output.stderr), exitCode: exitCodeAfter(code, signal) })
    })
  })
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function text(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('utf8')
}

function exitCodeAfter(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal])
}

function killed(program: string, why: string): CliError {
  return new CliError(`${program} ${why} and was killed.`, { exitCode: EXIT.failed, code: 'program_killed' })
}

function notStarted(program: string, error: NodeJS.ErrnoException): CliError {
  if (error.code === 'ENOENT') return missingProgram(program)
  return new CliError(`${program} could not be started: ${error.message}`, {
    exitCode: EXIT.failed,
    code: 'program_not_started',
    cause: error,
  })
}
