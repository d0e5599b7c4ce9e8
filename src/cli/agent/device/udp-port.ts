import { createSocket } from 'node:dgram'
import { portInUse } from './port-in-use.ts'

/** Refuses a UDP port that another program has, which WireGuard would notice only once the interface is up. */
export async function requireFreePort(port: number): Promise<void> {
  if (port === 0) return
  await bindOnce('udp4', port)
  await bindOnce('udp6', port)
}

function bindOnce(type: 'udp4' | 'udp6', port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createSocket({ type, ipv6Only: type === 'udp6' })
    socket.once('error', (error: NodeJS.ErrnoException) => {
      socket.close()
      // A machine without IPv6 has no port of it to be taken.
      if (error.code === 'EADDRINUSE') reject(portInUse(port))
      else if (type === 'udp6') resolve()
      else reject(error)
    })
    socket.bind(port, () => socket.close(() => resolve()))
  })
}
