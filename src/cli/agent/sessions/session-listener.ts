import { createServer, type Server, type Socket } from 'node:net'
import { agentError, systemCode } from '../errors.ts'
import { SESSION_PORT } from './session-port.ts'

/** Listens on one address at a time. */
export interface SessionListener {
  /** Moves to that address. @throws CliError where it cannot be listened on; nothing is listened on then. */
  listenOn(address: string): Promise<void>
  /** `address:port`; undefined where nothing is listened on. */
  listen(): string | undefined
  /** Connections stay open. */
  close(): void
}

/** Makes a listener that is closed. More connections than `connectionsMax` at once are dropped. */
export function createSessionListener(options: {
  readonly connectionsMax: number
  readonly onConnection: (socket: Socket) => void
}): SessionListener {
  let server: Server | undefined
  let at: string | undefined
  let isClosed = false

  function leave(): void {
    // Connections are not waited for: they may outlive the address.
    server?.close()
    ;[server, at] = [undefined, undefined]
  }

  return {
    async listenOn(address) {
      if (at === address) return
      leave()
      server = await listening(address, options)
      at = address
      if (isClosed) leave()
    },
    listen: () => at && `${at}:${SESSION_PORT}`,
    close() {
      isClosed = true
      leave()
    },
  }
}

function listening(
  host: string,
  { connectionsMax, onConnection }: Parameters<typeof createSessionListener>[0],
): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, onConnection)
    server.maxConnections = connectionsMax
    // After the start, an error is of a connection that could not be accepted, for want of descriptors for instance. Others may be.
    server.on('error', (error) => reject(notListening(host, error)))
    server.listen({ host, port: SESSION_PORT }, () => resolve(server))
  })
}

function notListening(host: string, error: Error) {
  const at = `${host}, TCP ${SESSION_PORT}`
  const isTaken = systemCode(error) === 'EADDRINUSE'
  const why = isTaken ? `another program listens on ${at}` : `${at} cannot be listened on (${systemCode(error)})`
  return agentError('sessions_not_open', `mediated sessions are not let in: ${why}`, { cause: error })
}
