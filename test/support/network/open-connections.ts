import type { Server } from 'node:net'

/** Connections that a server has and has not seen closed. */
export function openConnections(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
  })
}
