import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A TCP relay before a server, in a process of its own. */
export interface Relay {
  /** `127.0.0.1:<port>`; the same for as long as it exists. */
  readonly address: string
  /** Ends every connection; new ones are refused. */
  kill(): Promise<void>
  start(): Promise<void>
  /** Suspends it: connections are accepted by the system, and nothing is answered. */
  freeze(): void
  thaw(): void
  /** Passes each answer on so much later; 0 for at once. */
  delay(ms: number): Promise<void>
  close(): Promise<void>
}

const SCRIPT = fileURLToPath(new URL('relay-child.mjs', import.meta.url))

/** Starts a relay on a free port of loopback before `target` (`host:port`). */
export async function startRelay(target: string): Promise<Relay> {
  let port = 0
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    child = fork(SCRIPT, [JSON.stringify({ target, port, delayMs: 0 })], { execArgv: [], stdio: 'inherit' })
    const [message] = (await once(child, 'message')) as [{ readonly port: number }]
    port = message.port
  }

  async function kill(): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  await start()
  return {
    address: `127.0.0.1:${port}`,
    start,
    kill,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    async delay(delayMs) {
      if (child === undefined) throw new Error('the relay was not started')
      const done = once(child, 'message')
      child.send({ delayMs })
      await done
    },
    close: kill,
  }
}
