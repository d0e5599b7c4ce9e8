import type { Socket } from 'node:net'
import type { contract } from '../../../shared/contract/index.ts'
import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { ApiClient } from '../../../client/agent/agent-deps.ts'
import type { PullCall } from '../../../client/agent/calls/node-wire.ts'
import { createCaller, createClientOver, operationOf, refusalOf, requestOf } from '../../../client/client.ts'
import { foreignServer, isAnswerOf } from '../../../client/foreign-server.ts'
import { createLightTransport, type CallConnections } from './light-transport.ts'
import type { LightNode } from './light-node.ts'
import type { Wire } from './wire.ts'

/** How light agents call the server. */
export interface LightWire {
  readonly client: ApiClient
  /**
   * Pulls a state and drops it. Resolves with undefined if the state still matches the `ETag`.
   *
   * @throws ProblemAnswer
   * @throws TransportFailure
   */
  readonly pull: (call: PullCall) => Promise<DroppedState | undefined>
  /** Connects, and requests the event stream of a node after that event. The answer is not awaited. */
  readonly requestStream: (node: LightNode, lastEventId: string) => Promise<Socket>
  /** Closes the connections of calls. */
  readonly close: () => void
}

/** What is kept of a pulled state. */
export interface DroppedState {
  readonly etag: string | undefined
  readonly bytes: number
  /** The server answered from its cache, so the state may be outdated. */
  readonly isDegraded: boolean
}

export interface LightWireOptions {
  readonly wire: Wire
  readonly connections: CallConnections
  readonly manifest: Manifest
  readonly timeoutMs: number
  readonly userAgent: string
}

/** Makes the calls and streams of light agents. */
export function createLightWire({ wire, connections, manifest, timeoutMs, userAgent }: LightWireOptions): LightWire {
  const transport = createLightTransport(wire, connections)
  const caller = createCaller({ manifest, transport, timeoutMs, triesMax: 1, userAgent })
  const [state, events] = [operationOf(manifest, 'GetNodeState'), operationOf(manifest, 'GetNodeEvents')]
  return {
    client: createClientOver<typeof contract>(caller, manifest),
    async pull({ nodeId, nsk, etag }) {
      const headers = etag === undefined ? {} : { 'if-none-match': etag }
      const request = await caller.prepare(requestOf(state, { id: nodeId }), { token: nsk, headers })
      const answer = await transport.drain({ ...request, timeoutMs })
      if (answer.status >= 400) throw refusalOf(answer)
      if (!isAnswerOf(state, answer)) throw foreignServer(answer)
      if (answer.status === 304) return undefined
      const isDegraded = answer.headers['x-service-degraded'] !== undefined
      return { etag: answer.headers['etag'], bytes: answer.bytes, isDegraded }
    },
    async requestStream({ identity }, lastEventId) {
      const headers = { accept: 'text/event-stream', 'last-event-id': lastEventId }
      const token = identity.nsk
      const request = await caller.prepare(requestOf(events, { id: identity.node_id }), { token, headers })
      const socket = wire.connect()
      socket.write(wire.textOf(request))
      return socket
    },
    close: () => transport.close(),
  }
}
