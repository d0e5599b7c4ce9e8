import { chmod, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { agentError, reasonOf } from '../errors.ts'

/** What another process on this machine may ask the agent. The socket has mode 0600 in a folder of mode 0700. */
export const REQUESTS = ['status', 'peers', 'stop'] as const
export type ControlRequest = (typeof REQUESTS)[number]

/** Answers a request with any JSON. */
export type ControlHandler = (request: ControlRequest) => Promise<unknown>

/** A listening control socket. */
export interface ControlSocket {
  close(): Promise<void>
}

/** The longest path of a Unix socket (unix(7)), without its final zero. */
const PATH_BYTES_MAX = 107
const REQUEST_BYTES_MAX = 64
const CONNECTIONS_MAX = 16
const IDLE_MS_MAX = 5_000

/** Listens: a request is one word and a line feed, the answer one line of JSON. @throws CliError where it cannot listen. */
export async function listenForControl(
  path: string,
  handle: ControlHandler,
  { idleMsMax = IDLE_MS_MAX }: { readonly idleMsMax?: number } = {},
): Promise<ControlSocket> {
  assertPathFits(path)
  // The lock says that no other agent runs, so a socket that is there was left by one that has ended.
  await rm(path, { force: true })
  const server = createServer((socket) => serve(socket, { handle, idleMsMax }))
  server.maxConnections = CONNECTIONS_MAX
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(agentError('control_socket', `${path} cannot be listened on: ${reasonOf(error)}`, { cause: error })),
    )
    server.listen(path, resolve)
  })
  await chmod(path, 0o600)
  return {
    close: async () => {
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await rm(path, { force: true })
    },
  }
}

function assertPathFits(path: string): void {
  if (Buffer.byteLength(path) <= PATH_BYTES_MAX) return
  throw agentError('state_dir_unusable', `${path} is longer than the ${PATH_BYTES_MAX} bytes of a Unix socket's path`, {
    hints: ['Name a folder with a shorter path with --state-dir.'],
  })
}

interface Serving {
  readonly handle: ControlHandler
  /** Time that the other end gets for its request, and to take the answer. */
  readonly idleMsMax: number
}

function serve(socket: Socket, serving: Serving): void {
  let text = ''
  socket.setEncoding('utf8')
  socket.setTimeout(serving.idleMsMax, () => socket.destroy())
  socket.on('error', () => socket.destroy()) // The other end is gone; there is nobody to answer.
  socket.on('data', (chunk: string) => {
    text += chunk
    if (text.length > REQUEST_BYTES_MAX) socket.destroy()
    else if (text.endsWith('\n')) void answer(socket, text.trim(), serving)
  })
}

async function answer(socket: Socket, word: string, { handle, idleMsMax }: Serving): Promise<void> {
  const request = REQUESTS.find((one) => one === word)
  if (request === undefined) return void socket.destroy()
  socket.setTimeout(0)
  const reply = await handle(request).then(
    (value) => ({ ok: true, value }),
    (error: unknown) => ({ ok: false, error: reasonOf(error) }),
  )
  // A program that does not take its answer must not keep the agent from ending.
  socket.setTimeout(idleMsMax)
  socket.end(`${JSON.stringify(reply)}\n`)
}
