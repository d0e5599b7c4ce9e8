import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { HIGH_RATE_LIMITS } from './high-rate-limits.mjs'

const CTL = fileURLToPath(new URL('../../../bin/ctl.js', import.meta.url))
const WITHOUT_SYNC = { NODE_OPTIONS: `--import ${new URL('../datastores/without-sync.mjs', import.meta.url).href}` }

/** `ctl serve` in a process of its own, as an operator runs it. */
export interface CtlProcess {
  readonly url: string
  readonly opsUrl: string | undefined
  readonly pid: number
  /** Everything said so far. */
  stdout(): string
  stderr(): string
  /** Sends the signal and resolves with the exit code, or with the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>
  /** Resolves once it has ended by itself, like `end`. */
  ended(): Promise<number | NodeJS.Signals | null>
}

export interface CtlOptions {
  readonly args?: readonly string[]
  /** Without `NODE_OPTIONS`, the process does not wait for the disk when it makes a data directory. */
  readonly env?: Readonly<Record<string, string>>
  /** The rate limits as an operator gets them; out of reach when absent, since load is no business of theirs. */
  readonly limits?: 'shipped'
  /** A free port of loopback when absent. */
  readonly listen?: string
  /** How many files it may have open; as many as this process when absent. */
  readonly openFiles?: number
}

/** Starts the server on a free loopback port and waits for its ready line. Throws with its stderr when it ends before. */
export async function startCtl({
  args = [],
  env = {},
  limits,
  listen = '127.0.0.1:0',
  openFiles,
}: CtlOptions = {}): Promise<CtlProcess> {
  const [program = '', ...words] = [...limited(openFiles), process.execPath, CTL, 'serve', '--listen', listen, ...args]
  const child = spawn(program, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...WITHOUT_SYNC, ...(limits === undefined && HIGH_RATE_LIMITS), ...env },
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk
  })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk
  })
  const ready = await readyLine(child, () => said)
  return {
    url: ready.url,
    opsUrl: ready.ops_url ?? undefined,
    pid: child.pid ?? 0,
    stdout: () => printed,
    stderr: () => said,
    async ended() {
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      return child.exitCode ?? child.signalCode
    },
    async end(signal) {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit')
        child.kill(signal)
        await ended
      }
      return child.exitCode ?? child.signalCode ?? signal
    },
  }
}

/** Words that start the rest of a command line under a limit of open files, as the same process. */
function limited(openFiles: number | undefined): readonly string[] {
  return openFiles === undefined ? [] : ['sh', '-c', `ulimit -n ${openFiles} && exec "$0" "$@"`]
}

interface ReadyLine {
  readonly url: string
  readonly ops_url: string | null
}

async function readyLine(child: ChildProcess, said: () => string): Promise<ReadyLine> {
  if (child.stdout === null) throw new Error('stdout is not piped')
  const lines = createInterface({ input: child.stdout })
  const first: Promise<string> = once(lines, 'line').then(([line]) => String(line))
  const ended: Promise<never> = once(child, 'exit').then(([code]) => {
    throw new Error(`ctl serve ended with ${String(code)} before it was ready:\n${said()}`)
  })
  ended.catch(() => undefined)
  return JSON.parse(await Promise.race([first, ended]))
}

/** How a `ctl` command ended. */
export interface CtlResult {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs any `ctl` command to its end. */
export async function runCtl(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CtlResult> {
  const child = spawn(process.execPath, [CTL, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Nothing of a test belongs into the keyring of whoever runs it.
    env: { ...process.env, CTL_TOKEN_STORE: 'file', ...env },
  })
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => text(stream))
  const [exitCode] = (await once(child, 'close')) as [number | null]
  return { exitCode, stdout: (await stdout) ?? '', stderr: (await stderr) ?? '' }
}
