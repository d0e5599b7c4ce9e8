import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { QUERY_BYTES_MAX } from './read-query.ts'

/** Limits of the TCP side; each is far above what a resolver of one machine needs. */
const CONNECTIONS_MAX = 32
const IDLE_MS = 5_000
/** A connection ends after this time, even one that sends a byte at a time. */
const LIFETIME_MS = 30_000
/** A client that does not read its answers is disconnected beyond this. */
const UNREAD_BYTES_MAX = 128 * 1024

/** The TCP side of a resolver; it listens once its server does. */
export interface TcpQueries {
  readonly server: Server
  /** Ends the server and its connections. */
  close(): Promise<void>
}

/** Serves DNS over TCP (RFC 7766): each message follows its length in two bytes. */
export function createTcpQueries(answer: (query: Buffer) => Buffer | undefined): TcpQueries {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    if (!isLoopback(socket.remoteAddress)) {
      socket.destroy()
      return
    }
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    serve(socket, answer)
  })
  server.maxConnections = CONNECTIONS_MAX
  return {
    server,
    close: async () => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** Only programs of this machine are answered. */
export function isLoopback(address: string | undefined): boolean {
  return address?.startsWith('127.') === true
}

function serve(socket: Socket, answer: (query: Buffer) => Buffer | undefined): void {
  const end = () => socket.destroy()
  const lifetime = setTimeout(end, LIFETIME_MS)
  const read = createMessageReader((query) => {
    const bytes = answer(query)
    if (bytes !== undefined) socket.write(withLength(bytes))
    return socket.writableLength <= UNREAD_BYTES_MAX
  })
  socket.setTimeout(IDLE_MS, end)
  socket.on('data', (chunk) => {
    if (!read(chunk)) end()
  })
  // The client has gone; there is no answer left to give.
  socket.on('error', end)
  socket.once('close', () => clearTimeout(lifetime))
}

/**
 * Cuts a stream into messages. The function that it returns is false once a message is too long to be a query, or `take` wants
 * no more.
 */
function createMessageReader(take: (message: Buffer) => boolean): (chunk: Buffer) => boolean {
  let pending: Buffer = Buffer.alloc(0)
  return (chunk) => {
    pending = Buffer.concat([pending, chunk])
    while (pending.byteLength >= 2) {
      const length = pending.readUInt16BE(0)
      if (length > QUERY_BYTES_MAX) return false
      if (pending.byteLength < 2 + length) return true
      const isWanted = take(pending.subarray(2, 2 + length))
      pending = pending.subarray(2 + length)
      if (!isWanted) return false
    }
    return true
  }
}

function withLength(message: Buffer): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(message.byteLength)
  return Buffer.concat([length, message])
}
