import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import type { LocalAddress } from './tcp-target.ts'

/** Connections of this machine that go through a session. */
export interface LocalListener {
  /** `address:port`. */
  readonly at: string
  /** Ends listening and cuts every connection. */
  close(): void
}

/** Listens on an address of loopback. @throws CliError where it cannot. */
export async function listenLocally(
  { host, port }: LocalAddress,
  onConnection: (socket: Socket) => void,
): Promise<LocalListener> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    // `close` follows an error, and ends what belongs to the connection.
    socket.on('error', () => undefined)
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    onConnection(socket)
  })
  await listening(server, { host, port })
  const { port: taken } = server.address() as AddressInfo
  return {
    at: host.includes(':') ? `[${host}]:${taken}` : `${host}:${taken}`,
    close() {
      server.close()
      sockets.forEach((socket) => socket.destroy())
    },
  }
}

function listening(server: Server, { host, port }: LocalAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    // After the start, an error is of a connection that could not be accepted. Others may be.
    server.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        new CliError(`${host}:${port} cannot be listened on here (${error.code ?? error.message})`, {
          exitCode: EXIT.conflict,
          code: 'local_port_taken',
          hints: ['Name another port with --local PORT; --local 0 takes a free one.'],
          cause: error,
        }),
      ),
    )
    server.listen({ host, port }, resolve)
  })
}
