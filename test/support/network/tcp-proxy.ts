import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A network between two programs that can be taken away. */
export interface TcpProxy {
  /** `host:port`. */
  readonly address: string
  /** Ends every connection and refuses new ones. */
  cut(): void
  /** Lets connections be, and passes nothing on any more. */
  swallow(): void
  /** Passes on again; connections from before, whose bytes were lost, are ended. */
  mend(): void
  close(): Promise<void>
}

/** Starts a proxy on loopback before `target` (`host:port`). */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const [host = '', port = ''] = target.split(':')
  const sockets = new Set<Socket>()
  let isCut = false

  function track(socket: Socket): Socket {
    sockets.add(socket)
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
  }

  const server = createServer((near) => {
    track(near)
    if (isCut) {
      near.destroy()
      return
    }
    const far = track(connect(Number(port), host))
    near.pipe(far)
    far.pipe(near)
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const own = server.address()
  if (own === null || typeof own === 'string') throw new Error('no port was given')

  function dropAll(): void {
    for (const socket of sockets) socket.destroy()
  }

  return {
    address: `127.0.0.1:${own.port}`,
    cut() {
      isCut = true
      dropAll()
    },
    swallow() {
      for (const socket of sockets) socket.unpipe().resume()
    },
    mend() {
      isCut = false
      dropAll()
    },
    async close() {
      dropAll()
      server.close()
      await once(server, 'close')
    },
  }
}
