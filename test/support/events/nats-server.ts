import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../datastores/postgres-cluster.ts'
import { requirement } from '../run/requirements.mjs'

/** A real NATS server of its own: loopback, a free port, JetStream in a directory of its own, gone at the end. */
export interface NatsServer {
  /** `host:port`. */
  readonly address: string
  readonly pid: number
  /** Ends it by signal: `SIGTERM` in order, `SIGKILL` as a crash. The store stays. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Starts it again on the same port. */
  start(): Promise<void>
  /** Removes what it has stored; only while it is ended. */
  emptyStore(): void
  /** Replaces its further settings; read at the next start. */
  configure(settings: readonly string[]): void
  /** Ends it and removes its data. */
  stop(): Promise<void>
}

/** In the place of a setting: a server that stores nothing. */
export const NO_JETSTREAM = 'no jetstream'

const READY_DEADLINE_MS = 60_000

async function waitUntilReady(server: ChildProcess): Promise<void> {
  let said = ''
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`NATS is not ready:\n${said}`)), READY_DEADLINE_MS)
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-8_192)
      if (!said.includes('Server is ready')) return
      clearTimeout(timer)
      resolve()
    })
    server.once('exit', (code) => {
      clearTimeout(timer)
      reject(new Error(`NATS ended with ${code}:\n${said}`))
    })
  })
}

/**
 * Starts a server. `settings` are lines of its configuration, besides where it listens and where it stores.
 * @throws Error when it is not on this machine: ask `requirement('nats-server')` first.
 */
export async function startNatsServer(settings: readonly string[] = []): Promise<NatsServer> {
  const program = requirement('nats-server')
  if (program === undefined) throw new Error('nats-server is not here')
  const directory = mkdtempSync(join(tmpdir(), 'ctl-nats-'))
  const store = join(directory, 'store')
  const port = await freePort()
  const file = join(directory, 'nats.conf')
  let server: ChildProcess | undefined

  function configure(further: readonly string[]): void {
    const isWithout = further.includes(NO_JETSTREAM)
    const lines = [
      `listen: "127.0.0.1:${port}"`,
      ...(isWithout ? [] : [`jetstream { store_dir: "${store}" }`]),
      ...further.filter((line) => line !== NO_JETSTREAM),
    ]
    writeFileSync(file, `${lines.join('\n')}\n`)
  }

  async function start(): Promise<void> {
    server = spawn(String(program), ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] })
    await waitUntilReady(server)
  }

  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill(signal)
    await ended
  }

  configure(settings)
  await start()
  return {
    address: `127.0.0.1:${port}`,
    get pid() {
      return server?.pid ?? 0
    },
    end,
    start,
    emptyStore: () => rmSync(store, { recursive: true, force: true }),
    configure,
    async stop() {
      await end('SIGKILL')
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
