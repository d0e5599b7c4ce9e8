import { readFileSync } from 'node:fs'
import { EXIT } from '../errors/exit-code.ts'
import { endWithOutput } from '../errors/guard.ts'
import type { Io, Sink } from './io.ts'
import { drawnInAscii, isUtf8 } from './locale.ts'

/** The process itself as `Io`. Streams are opened when they are first used: opening them costs start-up time. */
export function processIo(): Io {
  const interruption = createInterruption()
  return {
    stdin: {
      get isTty() {
        return process.stdin.isTTY ?? false
      },
      text: readStdin,
    },
    stdout: sinkOf(() => process.stdout),
    stderr: sinkOf(() => process.stderr),
    bytes: () => ({ input: process.stdin, output: process.stdout }),
    env: process.env,
    cwd: process.cwd(),
    get home() {
      return process.getBuiltinModule('node:os').homedir()
    },
    nowMs: Date.now,
    elapsedMs: () => performance.now(),
    sleep: (ms) => sleepUnless(ms, interruption.signal()),
    get interrupted() {
      return interruption.signal()
    },
    get isTerminated() {
      return interruption.isTerminated()
    },
    leave: (exitCode) => process.exit(exitCode),
    vault: async () => (await import('../session/token-vault.ts')).openTokenVault(),
    browse: async (url) => (await import('../commands/login/browser.ts')).openBrowser(url),
    prompter: async () => (await import('../session/prompter.ts')).createPrompter(process.stdin, process.stderr),
  }
}

function sinkOf(open: () => NodeJS.WriteStream): Sink {
  let opened: NodeJS.WriteStream | undefined
  const stream = (): NodeJS.WriteStream => {
    if (opened) return opened
    opened = open()
    endWithOutput(opened)
    return opened
  }
  return {
    get isTty() {
      return stream().isTTY ?? false
    },
    get columns() {
      return stream().columns || 80
    },
    get rows() {
      return stream().rows || 24
    },
    write: (text) => {
      const { isTTY } = stream()
      stream().write(isTTY && !isUtf8(process.env) ? drawnInAscii(text) : text)
    },
  }
}

async function readStdin(bytesMax = Infinity): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin) {
    chunks.push(Buffer.from(chunk as Uint8Array))
    bytes += (chunk as Uint8Array).length
    if (bytes >= bytesMax) break
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** A terminal that is closed ends things as SIGTERM does. */
const EXIT_OF = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated, SIGHUP: EXIT.terminated } as const

/** One interruption may come twice: npm passes Ctrl-C on, and timeout(1) signals the command and then its whole group. */
const SAME_INTERRUPTION_MS = 300

interface Interruption {
  readonly signal: () => AbortSignal
  readonly isTerminated: () => boolean
}

/** Takes over SIGINT, SIGTERM and SIGHUP at the first call of `signal`: the first of them ends things in order, the next one at once. */
function createInterruption(): Interruption {
  let controller: AbortController | undefined
  let first: { readonly name: keyof typeof EXIT_OF; readonly atMs: number } | undefined
  const takeOver = (): AbortController => {
    const started = new AbortController()
    const end = (name: keyof typeof EXIT_OF): void => {
      if (first !== undefined && Date.now() - first.atMs >= SAME_INTERRUPTION_MS) process.exit(EXIT_OF[name])
      first ??= { name, atMs: Date.now() }
      started.abort()
    }
    process.on('SIGINT', end).on('SIGTERM', end)
    if (!isHangupIgnored()) process.on('SIGHUP', end)
    return started
  }
  return {
    signal: () => (controller ??= takeOver()).signal,
    isTerminated: () => first !== undefined && first.name !== 'SIGINT',
  }
}

const HANGUP_BIT = 1n

/** Whether the program was started to outlive its terminal, as by nohup(1): a handler would undo that. Known on Linux alone. */
function isHangupIgnored(): boolean {
  try {
    const [, mask = '0'] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    return (BigInt(`0x${mask}`) & HANGUP_BIT) !== 0n
  } catch {
    return false
  }
}

function sleepUnless(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const wake = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', wake)
      resolve()
    }
    const timer = setTimeout(wake, ms)
    signal.addEventListener('abort', wake, { once: true })
    return undefined
  })
}
