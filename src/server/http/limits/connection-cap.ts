import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ReadGate } from './read-gate.ts'
import { discardPipelined } from './discard-pipelined.ts'

/** Requests of one connection that are served at the same time. */
const SERVED_MAX = 16
/** Requests that arrived in one read with those, and wait until one of them is answered. */
const WAITING_MAX = 64

/** The callbacks of the cap. */
export interface ConnectionCapDeps {
  /** Serves one request. */
  readonly serve: RequestListener
  /** Answers a connection that sent too many requests at once, and closes it. */
  readonly refuse: (socket: Socket, request: IncomingMessage) => void
  /** Called with connections that stay below the cap, and with those that exceed it. */
  readonly gate: Pick<ReadGate, 'trust' | 'distrust'>
}

/**
 * Serves at most 16 requests of a connection at once (RFC 9112 §9.3.2 allows a client to send more before it is
 * answered). Node pauses a socket only for answers that its peer does not take, so that requests which wait for the
 * datastore would pile up without a bound. At the cap the socket is not read any more. Node parses the whole of a read
 * before it can stop, so the rest of that read waits; a connection that has more than 64 waiting is refused.
 */
export function capConnections(deps: ConnectionCapDeps): RequestListener {
  const connections = new WeakMap<Socket, Connection>()
  return (request, response) => {
    const { socket } = request
    let connection = connections.get(socket)
    if (connection === undefined) {
      connection = new Connection(socket, deps)
      connections.set(socket, connection)
    }
    connection.take(request, response)
  }
}

interface Waiting {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** The requests in progress on one connection. A class to save memory: there is one for each agent. */
class Connection {
  readonly #socket: Socket
  readonly #deps: ConnectionCapDeps
  /** Requests whose answers have not been handed to the system yet. */
  #served = 0
  #waiting: Waiting[] = []
  #newest: IncomingMessage | undefined
  #isRefused = false
  #isHeld = false
  #isFollowed = false
  /** Whether it never sent more requests than are served at once. */
  #isModest = true
  #isTrusted = false

  constructor(socket: Socket, deps: ConnectionCapDeps) {
    this.#socket = socket
    this.#deps = deps
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    // Further requests in the read of a refused connection get no answer: the connection is closing.
    if (this.#isRefused) return
    this.#newest = request
    if (this.#served < SERVED_MAX) this.#serve({ request, response })
    else if (this.#waiting.length < WAITING_MAX) this.#wait({ request, response })
    else return this.#refuse(request)
    // Whether the request has a body is known once the whole read is parsed.
    if (this.#served >= SERVED_MAX) process.nextTick(this.#hold)
  }

  #serve({ request, response }: Waiting): void {
    this.#served += 1
    response.on('close', this.#answered)
    this.#deps.serve(request, response)
  }

  #wait(waiting: Waiting): void {
    this.#waiting.push(waiting)
    this.#isModest = false
    if (this.#isTrusted) this.#deps.gate.distrust(this.#socket)
    this.#isTrusted = false
  }

  /** Answers leave in the order of the requests, and each closes once the system has its last byte. */
  readonly #answered = (): void => {
    this.#served -= 1
    if (this.#isRefused || this.#socket.destroyed) {
      this.#waiting = []
      return
    }
    if (this.#isModest && !this.#isTrusted) {
      this.#isTrusted = true
      this.#deps.gate.trust(this.#socket)
    }
    const next = this.#waiting.shift()
    if (next !== undefined) this.#serve(next)
    else if (this.#isHeld) this.#release()
  }

  /** Stops reading, unless the rest of a body has to be read first: that ends with the next read or a later one. */
  readonly #hold = (): void => {
    if (this.#isHeld || this.#served < SERVED_MAX || this.#newest?.complete !== true) return
    this.#isHeld = true
    if (!this.#isFollowed) this.#socket.on('resume', this.#keepHeld)
    this.#isFollowed = true
    this.#socket.pause()
  }

  /** Node resumes the socket by itself, such as when a request was read to its end. */
  readonly #keepHeld = (): void => {
    if (this.#isHeld) this.#socket.pause()
  }

  #release(): void {
    this.#isHeld = false
    this.#socket.resume()
  }

  #refuse(request: IncomingMessage): void {
    this.#isRefused = true
    this.#waiting = []
    discardPipelined(this.#socket)
    this.#deps.refuse(this.#socket, request)
  }
}
