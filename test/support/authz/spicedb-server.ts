import { fork, type ChildProcess } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A call of SpiceDB's API that can be left without an answer. */
export interface HeldCall {
  readonly method: 'WriteRelationships' | 'CheckPermission' | 'ReadSchema' | 'WriteSchema'
  /** Before it takes effect, or after that. */
  readonly when: 'before' | 'after'
}

/**
 * Real SpiceDB on a free port of loopback, reached over gRPC with a preshared token. Its datastore is the memory of a
 * child process: `stop` and `start` keep what is in it, `close` loses it.
 */
export interface SpicedbServer {
  /** `127.0.0.1:<port>`; the same after a restart. */
  readonly endpoint: string
  readonly token: string
  /** Of the child process. */
  readonly pid: number
  /** Ends every connection and refuses new ones. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Takes calls and answers none of them until `answer`. */
  hang(): Promise<void>
  answer(): Promise<void>
  /** Leaves the next call of that kind without an answer; resolves, once armed, with what tells that it came. */
  hold(call: HeldCall): Promise<{ readonly held: Promise<void> }>
  /** Puts an empty one in its place, without schema and relationships, that answers. */
  reset(): Promise<void>
  /** Calls that were admitted so far, by method. */
  counts(): Promise<Readonly<Record<string, number>>>
  close(): Promise<void>
}

export interface SpicedbServerOptions {
  /** PEM; plaintext when absent. */
  readonly tls?: { readonly cert: string; readonly key: string }
}

const TOKEN = 'preshared-key-of-the-tests'

interface Said {
  readonly id?: number
  readonly event?: 'ready' | 'held'
  readonly port?: number
  readonly counts?: Readonly<Record<string, number>>
}

/** Starts an empty one: without schema, without relationships. */
export async function startSpicedb(options: SpicedbServerOptions = {}): Promise<SpicedbServer> {
  const script = fileURLToPath(new URL('spicedb-server-child.mjs', import.meta.url))
  const argument = JSON.stringify({ token: TOKEN, ...options })
  const child = fork(script, [argument], { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const said = new EventEmitter()
  child.on('message', (message: Said) => said.emit(message.event ?? `answer ${message.id}`, message))
  await once(said, 'ready')
  const steer = steering(child, said)
  const { port } = await steer('listen')
  return {
    endpoint: `127.0.0.1:${port}`,
    token: TOKEN,
    pid: child.pid ?? 0,
    stop: async () => void (await steer('refuse')),
    start: async () => void (await steer('listen')),
    hang: async () => void (await steer('hang')),
    answer: async () => void (await steer('answer')),
    async hold(call) {
      const held = once(said, 'held').then(() => undefined)
      await steer('hold', call)
      return { held }
    },
    reset: async () => void (await steer('reset')),
    counts: async () => (await steer('counts')).counts ?? {},
    async close() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

function steering(child: ChildProcess, said: EventEmitter) {
  let last = 0
  return async (command: string, details: object = {}): Promise<Said> => {
    const id = ++last
    const answer = once(said, `answer ${id}`)
    child.send({ id, command, ...details })
    // The child answers every command with one message of this shape.
    const [message] = (await answer) as [Said]
    return message
  }
}

/** Options of `ctl serve` for this SpiceDB. Writes its key to a file in the directory. */
export function spicedbArguments(
  { endpoint, token }: Pick<SpicedbServer, 'endpoint' | 'token'>,
  directory: string,
): readonly string[] {
  const tokenFile = join(directory, 'spicedb-token')
  writeFileSync(tokenFile, token, { mode: 0o600 })
  return ['--spicedb-endpoint', endpoint, '--spicedb-token-file', tokenFile]
}
