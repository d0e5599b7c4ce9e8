import { Readable } from 'node:stream'
import { TransportFailure } from '../../../client/failures.ts'
import type { HttpRequest, Transport } from '../../../client/transport.ts'
import { CallConnection, type DrainedAnswer, type WaitingCall } from './call-connection.ts'
import type { Wire } from './wire.ts'

/** `own`: each credential has a connection of its own; a number: as many connections as that carry the calls of all. */
export type CallConnections = 'own' | number

/** Carries the calls of agents over plain sockets: a call costs a third of one through `node:http`. */
export interface LightTransport extends Transport {
  /** As `exchange`; the body of an answer with status 200 is dropped as it arrives. */
  drain(request: HttpRequest): Promise<DrainedAnswer>
}

/** A call that waits for a connection. */
interface QueuedCall extends WaitingCall {
  readonly queuedAtMs: number
}

/** Connections that share one queue. */
interface Lane {
  readonly free: CallConnection[]
  readonly waiting: QueuedCall[]
  open: number
}

const SHARED = ''

/** Makes a transport. It connects with the first request. */
export function createLightTransport(wire: Wire, connections: CallConnections): LightTransport {
  const lanes = new Map<string, Lane>()
  const all = new Set<CallConnection>()
  const isOwn = connections === 'own'
  const openMax = isOwn ? 1 : connections

  function laneOf({ headers }: HttpRequest): Lane {
    const name = isOwn ? (headers['authorization'] ?? SHARED) : SHARED
    const known = lanes.get(name)
    if (known !== undefined) return known
    const lane: Lane = { free: [], waiting: [], open: 0 }
    lanes.set(name, lane)
    return lane
  }

  function connectionOf(lane: Lane): CallConnection | undefined {
    const free = lane.free.pop()
    if (free !== undefined || lane.open >= openMax) return free
    lane.open += 1
    const connection = new CallConnection(wire.connect(), (freed, isOpen) => {
      if (!isOpen) remove(lane, freed)
      else lane.free.push(freed)
      advance(lane)
    })
    all.add(connection)
    return connection
  }

  function remove(lane: Lane, connection: CallConnection): void {
    lane.open -= 1
    all.delete(connection)
    const at = lane.free.indexOf(connection)
    if (at !== -1) lane.free.splice(at, 1)
  }

  function advance(lane: Lane): void {
    dropLate(lane)
    if (lane.waiting.length === 0) return
    const connection = connectionOf(lane)
    if (connection === undefined) return
    const next = lane.waiting.shift()
    if (next !== undefined) connection.send(next)
  }

  function call(request: HttpRequest, isDrained: boolean): Promise<DrainedAnswer> {
    return new Promise((resolve, reject) => {
      const lane = laneOf(request)
      const { timeoutMs } = request
      const queuedAtMs = performance.now()
      lane.waiting.push({ text: wire.textOf(request), isDrained, timeoutMs, queuedAtMs, resolve, reject })
      advance(lane)
    })
  }

  return {
    url: wire.url,
    exchange: (request) => call(request, false),
    drain: (request) => call(request, true),
    async open(request) {
      const { body, ...head } = await call(request, false)
      return { ...head, body: Readable.from([body]) }
    },
    close() {
      for (const connection of all) connection.close()
    },
  }
}

/**
 * Rejects the calls that have waited for a connection as long as for an answer. A server that is slower than its agents would
 * otherwise get ever older reports, which it refuses for their instants and the agents repeat.
 */
function dropLate({ waiting }: Lane): void {
  const nowMs = performance.now()
  const isLate = ({ queuedAtMs, timeoutMs = Infinity }: QueuedCall): boolean => nowMs - queuedAtMs > timeoutMs
  const kept = waiting.findIndex((call) => !isLate(call))
  for (const { timeoutMs, reject } of waiting.splice(0, kept === -1 ? waiting.length : kept))
    reject(new TransportFailure('timeout', `no connection was free within ${timeoutMs} ms`))
}
