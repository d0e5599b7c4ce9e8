import { once } from 'node:events'
import { connect } from 'node:net'

/** A connection whose answer goes on. */
export interface RawStream {
  send(bytes: string): void
  /** Everything that has come so far. */
  text(): string
  /** Stops reading, as a reader does that is stuck. */
  pause(): void
  resume(): void
  /** Says that nothing more will be sent, and goes on reading. */
  endHalf(): void
  /** Resolves when the server has closed the connection. */
  closed(): Promise<void>
  isOpen(): boolean
  destroy(): void
}

/** Connects to a port of this machine. */
export async function openRawStream(port: number, localAddress = '127.0.0.1'): Promise<RawStream> {
  const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true })
  let text = ''
  let isOpen = true
  const closed = new Promise<void>((resolve) => {
    const over = (): void => {
      isOpen = false
      socket.destroy()
      resolve()
    }
    socket.once('end', over)
    socket.once('close', over)
  })
  socket.setEncoding('utf8')
  socket.on('data', (more: string) => {
    text += more
  })
  await once(socket, 'connect')
  // A server that cuts may close under what is still on its way.
  socket.on('error', () => undefined)
  return {
    send: (bytes) => void socket.write(bytes),
    text: () => text,
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    endHalf: () => void socket.end(),
    closed: () => closed,
    isOpen: () => isOpen,
    destroy: () => void socket.destroy(),
  }
}
