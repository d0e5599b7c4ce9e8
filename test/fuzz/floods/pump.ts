import { connect, type Socket } from 'node:net'

/** Where a flood goes, and until when. */
export interface Target {
  /** On 127.0.0.1: a flood never leaves the machine. */
  readonly port: number
  /** Aborts when the flood is over; every connection is then closed at once. */
  readonly over: AbortSignal
}

/** How a flood uses its connections. */
export interface Pumping {
  readonly connections: number
  /** Whether answers are read; else they wait in the server and the system. */
  readonly reads: boolean
  /** Called for each connection: what gives the bytes to write next, as often as the connection takes them; undefined ends that. */
  readonly begin: () => () => string | Uint8Array | undefined
}

/** What a flood did. */
export interface Pumped {
  /** Bytes that connections took. */
  sent: number
  /** Connections that were opened; those beyond the first ones came after the server had closed others. */
  opened: number
}

/** Before a closed connection is opened again, ms. */
const REOPEN_AFTER_MS = 100

/** Writes to all connections as much as they take until the flood is over; what the server closes is opened again. */
export async function pump({ port, over }: Target, pumping: Pumping): Promise<Pumped> {
  const pumped: Pumped = { sent: 0, opened: 0 }
  await Promise.all(Array.from({ length: pumping.connections }, () => keepOpen({ port, over }, pumping, pumped)))
  return pumped
}

async function keepOpen(target: Target, pumping: Pumping, pumped: Pumped): Promise<void> {
  while (!target.over.aborted) {
    pumped.opened += 1
    const socket = connect({ port: target.port, host: '127.0.0.1' })
    await pumpOne(socket, target.over, pumping)
    pumped.sent += socket.bytesWritten
    if (!target.over.aborted) await pause(REOPEN_AFTER_MS, target.over)
  }
}

/** Resolves when the connection is closed, by either side. */
function pumpOne(socket: Socket, over: AbortSignal, { reads, begin }: Pumping): Promise<void> {
  const next = begin()
  const fill = (): void => {
    let isTaken = true
    // `write` is false once the system takes no more; `drain` says when it does again.
    while (isTaken && !over.aborted && socket.writable) {
      const bytes = next()
      isTaken = bytes !== undefined && socket.write(bytes)
    }
  }
  const end = (): void => void socket.destroy()
  over.addEventListener('abort', end, { once: true })
  if (reads) socket.resume()
  else socket.pause()
  socket.on('connect', fill).on('drain', fill)
  // A server that closes connections is one way of meeting a flood.
  socket.on('error', () => undefined)
  return new Promise((resolve) => {
    socket.once('close', () => {
      over.removeEventListener('abort', end)
      resolve()
    })
    if (over.aborted) end()
  })
}

/** Waits so long, or until the flood is over. */
function pause(ms: number, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      over.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    over.addEventListener('abort', done, { once: true })
  })
}
