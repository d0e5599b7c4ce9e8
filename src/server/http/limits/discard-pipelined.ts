import type { Socket } from 'node:net'

/** Members in which a Node parser keeps its callbacks for headers, the end of a head, a body and the end of a message. */
const CALLED = [1, 2, 3, 4] as const

interface Parser {
  [called: number]: unknown
}

/**
 * Drops the requests in the rest of the current read of a socket: Node would create hundreds of them for a connection
 * that is about to be closed, and keep them until then. If a later Node stores the callbacks elsewhere, this has no effect.
 */
export function discardPipelined(socket: Socket): void {
  const { parser } = socket as Socket & { readonly parser?: Parser | null }
  if (parser === undefined || parser === null || CALLED.some((called) => typeof parser[called] !== 'function')) return
  const kept = CALLED.map((called) => parser[called])
  for (const called of CALLED) parser[called] = undefined
  // Runs once the read is parsed; parsers are used again for other connections.
  process.nextTick(() => {
    for (const [index, called] of CALLED.entries()) parser[called] = kept[index]
  })
}
