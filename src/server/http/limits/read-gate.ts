import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** How long one turn of the event loop may read requests, ms. The remaining sockets wait for another turn. */
const TURN_MS = 100
/** Requests between two reads of the clock. */
const LOOK_EVERY = 32
/** Sockets that are read again in each turn after that. */
const SOCKETS_PER_TURN = 32

/** Shares the event loop between reading requests and everything else. */
export interface ReadGate {
  /** Counts a request that was read. */
  passed(): void
  /** A connection had a request answered and never exceeded the cap: it is not paused. */
  trust(socket: Socket): void
  /** A connection sends more requests than are served at once. */
  distrust(socket: Socket): void
}

/**
 * Bounds how long a turn of the event loop reads. Node reads up to 64 KiB of every socket that has something before it does
 * anything else, timers and answers included: hundreds of small requests each, from as many connections as there are.
 * When a turn has taken too long, the sockets of new connections and of those that pipeline are paused, and read again a few
 * in a turn, those first that waited longest. The others bring one request a turn or a few, and go on.
 */
export function createReadGate(server: Server): ReadGate {
  const distrusted = new Set<Socket>()
  const paused = new Set<Socket>()
  let [isTurn, isOpening, startedMs, requests] = [false, false, 0, 0]

  // Requests come from the sockets of TLS, not from those below them.
  server.on('setSecureContext' in server ? 'secureConnection' : 'connection', (socket: Socket) => {
    distrusted.add(socket)
    socket.once('close', () => {
      distrusted.delete(socket)
      paused.delete(socket)
    })
  })

  function pauseAll(): void {
    for (const socket of distrusted) {
      if (socket.isPaused()) continue
      socket.pause()
      paused.add(socket)
    }
    if (isOpening) return
    isOpening = true
    setImmediate(resumeSome)
  }

  function resumeSome(): void {
    let count = 0
    for (const socket of paused) {
      if (count === SOCKETS_PER_TURN) break
      count += 1
      paused.delete(socket)
      socket.resume()
    }
    isOpening = paused.size > 0
    if (isOpening) setImmediate(resumeSome)
  }

  function endTurn(): void {
    isTurn = false
    requests = 0
  }

  return {
    passed() {
      if (!isTurn) {
        isTurn = true
        startedMs = performance.now()
        setImmediate(endTurn)
      }
      requests += 1
      if (requests % LOOK_EVERY === 0 && performance.now() - startedMs > TURN_MS) {
        startedMs = performance.now()
        pauseAll()
      }
    },
    trust: (socket) => void distrusted.delete(socket),
    distrust: (socket) => void distrusted.add(socket),
  }
}
