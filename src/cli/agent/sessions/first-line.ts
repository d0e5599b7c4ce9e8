import type { Socket } from 'node:net'

/** How long a line may be, in bytes without its line feed, and how long it may take. */
export interface LineTerms {
  readonly bytesMax: number
  readonly timeoutMs: number
}

const LINE_FEED = 0x0a

/**
 * Reads the first line of a connection, without its end. What follows it stays to be read, and the socket is paused. Undefined where
 * the line is too long or late, or where the connection ends before it.
 */
export function readFirstLine(socket: Socket, { bytesMax, timeoutMs }: LineTerms): Promise<string | undefined> {
  return new Promise((resolve) => {
    let read = Buffer.alloc(0)
    const settle = (line: string | undefined): void => {
      clearTimeout(timer)
      socket.off('data', take).off('end', fail).off('close', fail).off('error', fail)
      resolve(line)
    }
    const fail = (): void => settle(undefined)
    const take = (chunk: Buffer): void => {
      read = Buffer.concat([read, chunk])
      const end = read.indexOf(LINE_FEED)
      if (end > bytesMax || (end === -1 && read.length > bytesMax)) return fail()
      if (end === -1) return undefined
      socket.pause()
      settle(read.subarray(0, end).toString('latin1').replace(/\r$/, ''))
      if (end + 1 < read.length) socket.unshift(read.subarray(end + 1))
      return undefined
    }
    const timer = setTimeout(fail, timeoutMs)
    socket.on('data', take).on('end', fail).on('close', fail).on('error', fail)
  })
}
