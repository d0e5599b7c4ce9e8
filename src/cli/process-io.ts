import type { Io, Sink } from './io.ts'

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
    env: process.env,
    cwd: process.cwd(),
    get home() {
      return process.getBuiltinModule('node:os').homedir()
    },
    nowMs: Date.now,
    sleep: (ms) => sleepUnless(ms, interruption()),
    get interrupted() {
      return interruption()
    },
    leave: (exitCode) => process.exit(exitCode),
    vault: async () => (await import('./token-vault.ts')).openTokenVault(),
    browse: async (url) => (await import('./login/browser.ts')).openBrowser(url),
    prompter: async () => (await import('./prompter.ts')).createPrompter(process.stdin, process.stderr),
  }
}

function sinkOf(open: () => NodeJS.WriteStream): Sink {
  let opened: NodeJS.WriteStream | undefined
  const stream = (): NodeJS.WriteStream => {
    if (opened) return opened
    opened = open()
    // A reader that has seen enough (`ctl … | head`) closes the pipe: no failure, only nothing left to do.
    opened.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      process.exit(0)
    })
    return opened
  }
  return {
    get isTty() {
      return stream().isTTY ?? false
    },
    get columns() {
      return stream().columns || 80
    },
    write: (text) => {
      stream().write(text)
    },
  }
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array))
  return Buffer.concat(chunks).toString('utf8')
}

/** Takes over SIGINT at the first call: the first Ctrl-C ends things in order, the second at once. */
function createInterruption(): () => AbortSignal {
  let controller: AbortController | undefined
  return () => {
    if (!controller) {
      const started = new AbortController()
      controller = started
      process.once('SIGINT', () => {
        started.abort()
        process.once('SIGINT', () => process.exit(130))
      })
    }
    return controller.signal
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
