import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A proxy that gives each connection to the next target which accepts it, as a load balancer does. */
export interface RoundRobin {
  /** `http://host:port`. */
  readonly url: string
  close(): Promise<void>
}

/** Starts a proxy on loopback before the servers at these URLs. */
export async function startRoundRobin(urls: readonly string[]): Promise<RoundRobin> {
  const ports = urls.map((url) => Number(new URL(url).port))
  const sockets = new Set<Socket>()
  let turn = 0

  function track(socket: Socket): Socket {
    sockets.add(socket)
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
  }

  /** Connects to the next target, and to those after it where that one accepts nothing. */
  function join(near: Socket, tries: number): void {
    const far = track(connect(ports[turn++ % ports.length] ?? 0, '127.0.0.1'))
    const refused = (): void => void (tries > 1 && !near.destroyed ? join(near, tries - 1) : near.destroy())
    far.once('error', refused)
    far.once('connect', () => {
      far.off('error', refused)
      near.pipe(far).pipe(near)
      near.once('close', () => far.destroy())
      far.once('close', () => near.destroy())
      if (near.destroyed) far.destroy()
    })
  }

  const server = createServer((near) => join(track(near), ports.length)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
