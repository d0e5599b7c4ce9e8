import { createConnection } from 'node:net'
import { deviceFault } from './device-fault.ts'

const DEADLINE_MS = 5_000
/** A peer takes some 500 bytes. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024
const END = '\n\n'

/** Whether nothing listens on the socket: the file is missing, or left behind by a process that is gone. */
export function hasNoListener(error: unknown): boolean {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return code === 'ENOENT' || code === 'ECONNREFUSED'
}

/** Sends one request of the userspace API and resolves with the answer up to its blank line. */
export function askUapi(path: string, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path)
    const answer = { text: '' }
    const fail = (error: Error) => {
      socket.destroy()
      reject(error)
    }
    socket.setTimeout(DEADLINE_MS, () =>
      fail(deviceFault(`wireguard-go did not answer within ${DEADLINE_MS / 1000} s.`)),
    )
    socket.setEncoding('latin1')
    socket.on('error', fail)
    socket.on('close', () => fail(deviceFault('wireguard-go closed the connection before its answer was complete.')))
    socket.on('data', (chunk: string) => {
      answer.text += chunk
      if (answer.text.length > ANSWER_BYTES_MAX) fail(deviceFault('wireguard-go answered with more than 64 MiB.'))
      if (!answer.text.endsWith(END)) return
      resolve(answer.text.slice(0, -END.length))
      socket.destroy()
    })
    socket.write(request)
  })
}

/** Holds a connection open and calls back once, when the process at its other end is gone. */
export interface UapiWatch {
  close(): void
}

/** Watches the process that listens on the socket. `onGone` is not called after `close`. */
export function watchUapi(path: string, onGone: () => void): UapiWatch {
  const socket = createConnection(path)
  let isClosed = false
  const gone = () => {
    if (isClosed) return
    isClosed = true
    onGone()
  }
  socket.on('error', () => undefined)
  socket.on('close', gone)
  socket.resume()
  return {
    close() {
      isClosed = true
      socket.destroy()
    },
  }
}
