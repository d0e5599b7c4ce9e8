import { createClientOver, createCaller, type Attempt } from '../../client/client.ts'
import type { ApiClient, MeshParts } from '../../client/agent/agent-deps.ts'
import type { AgentClock } from '../../client/agent/agent-clock.ts'
import { createBridgeBook } from '../../client/agent/bridges/bridge-book.ts'
import { createNodeWire } from '../../client/agent/calls/node-wire.ts'
import { createPacedLimiter } from '../../client/agent/calls/paced-limiter.ts'
import { createPacer } from '../../client/agent/calls/pacer.ts'
import { createNodeStreams, type NodeStreams } from '../../client/agent/events/node-streams.ts'
import { createPeerBook } from '../../client/agent/peers/peer-book.ts'
import { createPolicyBook } from '../../client/agent/policies/policy-book.ts'
import { pullsInThisThread } from '../../client/agent/state/state-pulls.ts'
import { createTransport } from '../../client/transport.ts'
import type { contract } from '../../shared/contract/index.ts'
import type { Manifest } from '../../shared/contract/manifest-format.ts'
import type { ServerSettings } from './state/agent-state.ts'

/** The agent's way to its server. */
export interface Connection {
  readonly client: ApiClient
  readonly streams: NodeStreams
  /** The mesh parts of one agent. */
  readonly mesh: (clock: AgentClock) => MeshParts
  /** Ends the open connections, whose local address may be gone. Calls and stream connect again. */
  reconnect(): void
  close(): void
}

/** How the server is reached. */
export interface ConnectionOptions {
  readonly server: ServerSettings
  readonly manifest: Manifest
  readonly userAgent: string
  /** Called after each call. */
  readonly observe?: (attempt: Attempt) => void
}

/** As the protocol has it. */
const CALL_MS_MAX = 15_000
/** The server allows a node 10 calls a second; heartbeats and pulls need room beside these. */
const EDGE_KEYS_PER_SECOND = 5
const SECRETS_PER_SECOND = 2
const PULLS_PER_SECOND = 2

/** Opens the connection; the first call connects. */
export function openConnection({ server, manifest, userAgent, observe }: ConnectionOptions): Connection {
  const transport = createTransport({ url: server.url, ca: server.ca, pinnedCa: server.pinned_ca, socketsMax: 8 })
  const caller = createCaller({
    manifest,
    transport,
    timeoutMs: CALL_MS_MAX,
    // The agent repeats calls itself.
    triesMax: 1,
    userAgent,
    ...(observe !== undefined && { observe }),
  })
  const wire = createNodeWire(caller, manifest)
  return {
    client: createClientOver<typeof contract>(caller, manifest),
    streams: createNodeStreams(caller, manifest),
    mesh(clock) {
      const limited = (perSecond: number, concurrency: number) =>
        createPacedLimiter(createPacer(clock, perSecond), concurrency)
      const book = createPeerBook()
      return {
        wire,
        book,
        policies: createPolicyBook(),
        bridges: createBridgeBook(),
        pull: pullsInThisThread(wire)(book),
        limiters: {
          pulls: limited(PULLS_PER_SECOND, 1),
          edgeKeys: limited(EDGE_KEYS_PER_SECOND, 1),
          secrets: limited(SECRETS_PER_SECOND, 1),
          digests: limited(1, 1),
        },
      }
    },
    reconnect: () => transport.close(),
    close: () => transport.close(),
  }
}
