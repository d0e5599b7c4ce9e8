import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Callbacks to run at the end of each connection. */
const waiting = new WeakMap<Socket, Set<() => void>>()

/**
 * Calls back once, when the answer was sent or its connection is closed. Node emits `close` only for the response that is the next
 * to be sent: responses to pipelined requests that wait behind it end with the connection and without an event.
 */
export function onExchangeEnd(
  { socket }: Pick<IncomingMessage, 'socket'>,
  response: ServerResponse,
  ended: () => void,
): void {
  if (socket.destroyed) return ended()
  const callbacks = waiting.get(socket) ?? followClose(socket)
  const end = (): void => {
    if (callbacks.delete(end)) ended()
  }
  callbacks.add(end)
  response.once('close', end)
}

function followClose(socket: Socket): Set<() => void> {
  const callbacks = new Set<() => void>()
  waiting.set(socket, callbacks)
  socket.once('close', () => {
    for (const end of callbacks) end()
  })
  return callbacks
}
