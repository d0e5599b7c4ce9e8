import { once } from 'node:events'
import { lstatSync, unlinkSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { AdminRefusal, type AdminCommand, type AdminRequest } from '../ports/admin-command.ts'
import { decodeFrame, FRAME_BYTES_MAX, LINES } from './admin-frame.ts'

/** Where operators reach a running server on its own machine: the file's mode admits the server's user alone. */
export function adminSocketPath(dataDir: string): string {
  return join(dataDir, 'admin.sock')
}

export interface AdminSocket {
  /** Lets running commands finish for a moment, and removes the socket. */
  close(): Promise<void>
}

export interface AdminSocketOptions {
  readonly path: string
  readonly commands: readonly AdminCommand[]
  readonly log: Pick<Logger, 'warn' | 'error'>
}

/** Commands carried out at the same time: each may hold binaries in memory. */
const CONNECTIONS_MAX = 4
const REQUEST_MS = 60_000
const CLOSE_MS = 2_000
/** Read and written by the owner alone. */
const OWN_MASK = 0o177

/**
 * Serves the commands as `POST /<name>` on a socket in the data directory. The caller holds the directory, so that a socket
 * there is one that a dead server left; it is replaced. A server without a socket is a server: a failure is logged.
 */
export async function openAdminSocket({ path, commands, log }: AdminSocketOptions): Promise<AdminSocket | undefined> {
  const byPath = new Map(commands.map((command) => [`/${command.name}`, command]))
  const stopping = new AbortController()
  const server = createServer({ requestTimeout: REQUEST_MS }, (request, response) => {
    const exchange = { request, response, stopping: stopping.signal }
    void answerTo(exchange, byPath, log).then((answer) => send(response, answer))
  })
  server.maxConnections = CONNECTIONS_MAX
  try {
    removeStale(path)
    await listenAt(server, path)
  } catch (error) {
    log.warn({ err: error }, 'there is no admin.sock: ctl admin commands need the server to be stopped')
    return undefined
  }
  return {
    close() {
      stopping.abort(new AdminRefusal('The server stops.'))
      return closeSocket(server)
    },
  }
}

function removeStale(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isSocket() === true) unlinkSync(path)
}

/** The mask holds for the moment in which the file is made, which is within `listen`: no other user ever sees it open. */
async function listenAt(server: Server, path: string): Promise<void> {
  const former = process.umask(OWN_MASK)
  try {
    server.listen({ path })
  } finally {
    process.umask(former)
  }
  await once(server, 'listening')
}

interface SocketAnswer {
  readonly status: number
  readonly message: string
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly stopping: AbortSignal
}

async function answerTo(
  { request, response, stopping }: Exchange,
  commands: ReadonlyMap<string, AdminCommand>,
  log: AdminSocketOptions['log'],
): Promise<SocketAnswer> {
  const command = request.method === 'POST' ? commands.get(request.url ?? '') : undefined
  if (command === undefined) return { status: 404, message: 'The running server does not know this command.' }
  try {
    const body = await bodyOf(request)
    const given = body && decodeFrame(body)
    if (given === undefined) return { status: 400, message: 'The running server cannot read the request.' }
    return { status: 200, message: await runFor({ response, stopping }, command, given) }
  } catch (error) {
    if (error instanceof AdminRefusal) return { status: 422, message: error.message }
    log.error({ err: error, command: command.name }, 'an admin command failed')
    return { status: 500, message: 'The running server failed; its log has the reason.' }
  }
}

/** Runs the command for as long as its caller waits and the server goes on. */
async function runFor(
  { response, stopping }: Omit<Exchange, 'request'>,
  command: AdminCommand,
  given: Omit<AdminRequest, 'command'>,
): Promise<string> {
  const gone = new AbortController()
  response.once('close', () => gone.abort(new AdminRefusal('The caller went away.')))
  const signal = AbortSignal.any([stopping, gone.signal])
  const reports = command.isLong === true ? beginReports(response) : undefined
  try {
    return await command.run(given, { signal, report: (sentence) => reports?.report(sentence) })
  } finally {
    reports?.end()
  }
}

/** Undefined where it is too long, or cut off. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > FRAME_BYTES_MAX) return undefined
      chunks.push(chunk)
    }
  } catch {
    return undefined
  }
  return Buffer.concat(chunks)
}

/** How often the caller of a long command gets a line: it can tell a server that works from one that hangs. */
const REPORT_MS = 1_000

/** Answers at once, with lines that say how far the command is. */
function beginReports(response: ServerResponse): { report(sentence: string): void; end(): void } {
  response.writeHead(200, { 'content-type': LINES, connection: 'close' }).flushHeaders()
  let latest = ''
  const timer = setInterval(() => void response.write(`${JSON.stringify({ report: latest })}\n`), REPORT_MS)
  return {
    report(sentence) {
      latest = sentence
    },
    end: () => clearInterval(timer),
  }
}

/** The last line of a long command has the status that the head of a short one has. */
function send(response: ServerResponse, { status, message }: SocketAnswer): void {
  if (response.headersSent) return void response.end(`${JSON.stringify({ status, message })}\n`)
  const body = JSON.stringify({ message })
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body)
}

async function closeSocket(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const late = setTimeout(() => server.closeAllConnections(), CLOSE_MS)
  await closed
  clearTimeout(late)
}
