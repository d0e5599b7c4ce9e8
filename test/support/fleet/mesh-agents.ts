import { setMaxListeners } from 'node:events'
import { createCipheriv, randomBytes } from 'node:crypto'
import { ProblemAnswer } from '../../../src/client/failures.ts'
import { simulatedActions } from '../../../src/cli/agent-sim/agent/actions.ts'
import type { MeshAgentDeps } from '../../../src/cli/agent-sim/agent/agent-deps.ts'
import { createEdgeLedger } from '../../../src/cli/agent-sim/edge-ledger.ts'
import { createTaskTracker } from '../../../src/client/agent/tasks/task-tracker.ts'
import type { AgentClock } from '../../../src/client/agent/agent-clock.ts'
import type { ApiClient, MemberActions } from '../../../src/client/agent/agent-deps.ts'
import type { NodeWire, PulledBytes } from '../../../src/client/agent/calls/node-wire.ts'
import { createKnownEpochs } from '../../../src/cli/agent-sim/known-epochs.ts'
import { createPeerBook, type PeerFacts } from '../../../src/client/agent/peers/peer-book.ts'
import { createBridgeBook } from '../../../src/client/agent/bridges/bridge-book.ts'
import { createPolicyBook } from '../../../src/client/agent/policies/policy-book.ts'
import { DEFAULT_HABITS, type Habits } from '../../../src/cli/agent-sim/plan.ts'
import { simulatedNode, type SimulatedNode } from '../../../src/cli/agent-sim/simulated-node.ts'
import { pullsInThisThread } from '../../../src/client/agent/state/state-pulls.ts'
import { createStatistics, type Statistics } from '../../../src/cli/agent-sim/statistics.ts'
import type { PacedLimiter } from '../../../src/client/agent/calls/paced-limiter.ts'
import { createTimerWheel } from '../../../src/client/agent/tasks/timer-wheel.ts'
import { createWantedRelease } from '../../../src/cli/agent-sim/wanted-release.ts'
import { canonicalize } from '../../../src/shared/canonical-json.ts'
import { mintNsk, parseNsk } from '../../../src/shared/credential-formats.ts'
import { envelopeAad } from '../../../src/shared/mesh/edge-envelope.ts'

/** A clock that a test advances, and that resolves the pauses that end meanwhile. */
export interface SteppedClock extends AgentClock {
  advance(ms: number): Promise<void>
}

/** Makes the clock. Random numbers are always 0, so random delays are 0. */
export function steppedClock(): SteppedClock {
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  let waiting: { readonly atMs: number; readonly wake: () => void }[] = []
  const settle = async (): Promise<void> => {
    for (let turns = 0; turns < 3; turns += 1) await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    now: () => nowMs,
    random: () => 0,
    pause(ms, signal) {
      if (signal.aborted || ms <= 0) return Promise.resolve()
      return new Promise((resolve) => {
        waiting.push({ atMs: nowMs + ms, wake: resolve })
        setMaxListeners(0, signal)
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    },
    async advance(ms) {
      const endMs = nowMs + ms
      await settle()
      for (;;) {
        const nextMs = Math.min(...waiting.map(({ atMs }) => atMs))
        if (nextMs > endMs) break
        nowMs = nextMs
        const due = waiting.filter(({ atMs }) => atMs <= nowMs)
        waiting = waiting.filter(({ atMs }) => atMs > nowMs)
        due.forEach(({ wake }) => wake())
        await settle()
      }
      nowMs = endMs
    },
  }
}

/** A recorded call of an agent. */
export interface AgentCall {
  readonly operation: string
  readonly input: Readonly<Record<string, unknown>>
  readonly token: unknown
  /** The deadline of the call in ms; undefined: that of the client. */
  readonly timeoutMs?: unknown
}

/** Answers of the stub server by operation; any other operation is answered with 501. */
export type Answers = Readonly<Record<string, (call: AgentCall) => unknown>>

/** A refusal with that code. */
export function refusal(status: number, code: string): ProblemAnswer {
  return new ProblemAnswer({ status, code, title: code, detail: code })
}

export interface AgentWorld {
  readonly deps: MeshAgentDeps
  readonly clock: SteppedClock
  readonly statistics: Statistics
  readonly nodes: readonly SimulatedNode[]
  readonly calls: readonly AgentCall[]
  /** The operations that were called, in order. */
  called(): readonly string[]
  count(name: string): number
  end(): void
}

/** `id(1)`, `id(2)` … in the order of node ids. */
export const id = (number: number): string => `0197a000-0000-7000-8000-${String(number).padStart(12, '0')}`

/** The instant of a preshared key: the higher the number, the newer. */
export const issued = (number: number): string => `2026-01-01T00:00:00.${String(number).padStart(9, '0')}Z`

/** The facts of a peer. */
export const peer = (number: number, more: Partial<PeerFacts> = {}): PeerFacts => ({
  node_id: id(number),
  name: '',
  public_key: `key-${number}`,
  mesh_address: `100.64.0.${number}`,
  endpoint: '',
  psk_issued_at: issued(1),
  groups: [],
  candidates: [],
  subnets: [],
  ...more,
})

/** A pulled state in canonical form. */
export function pulled(blocks: Readonly<Record<string, unknown>>, etag = '"1"'): PulledBytes {
  const usual = {
    peers: [],
    policy: { policies: [] },
    bridge: { resources: [] },
    'state/reports': {},
    executions: [],
    sessions: [],
  }
  return { bytes: Buffer.from(canonicalize({ ...usual, ...blocks })), etag, isDegraded: false }
}

/** Seals a key as the server does. */
export function sealed(call: { nodeId: string; nsk: string; peerId: string }, epoch: string, key: Uint8Array) {
  const fields = parseNsk(call.nsk)
  if (fields === undefined) throw new Error('the stub was given no node secret key')
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', fields.key, nonce)
  cipher.setAAD(envelopeAad({ nodeId: call.nodeId, peerNodeId: call.peerId, epoch }))
  const envelope = Buffer.concat([nonce, cipher.update(key), cipher.final(), cipher.getAuthTag()])
  return { envelope: new Uint8Array(envelope), kid: fields.kid, epoch, nsk: call.nsk }
}

interface WorldOptions {
  readonly answers?: Answers
  readonly wire?: Partial<NodeWire>
  readonly habits?: Partial<Habits>
  readonly size?: number
  /** What the agents do in another way than those of the simulator. */
  readonly actions?: Partial<MemberActions<SimulatedNode>>
}

/** Agents of a stub server, under a stepped clock. The own epoch of each node is `issued(1)`. */
export function agentWorld({ answers = {}, wire = {}, habits, size = 1, actions = {} }: WorldOptions): AgentWorld {
  const clock = steppedClock()
  const statistics = createStatistics()
  const ended = new AbortController()
  const calls: AgentCall[] = []
  const answer = (call: AgentCall): unknown => {
    calls.push(call)
    const found = answers[call.operation]
    if (found === undefined) throw refusal(501, 'not_here')
    return found(call)
  }
  const client = new Proxy(
    {},
    {
      get:
        (_, operation: string) =>
        async (input: AgentCall['input'], options: { token?: unknown; timeoutMs?: unknown } = {}) =>
          answer({ operation, input, token: options.token, timeoutMs: options.timeoutMs }),
    },
  ) as ApiClient
  const over = <I extends object, T>(operation: string, act: ((call: I) => Promise<T>) | undefined) => {
    return async (call: I): Promise<T> => {
      calls.push({ operation, input: Object.fromEntries(Object.entries(call)), token: undefined })
      if (act === undefined) throw refusal(501, 'not_here')
      return act(call)
    }
  }
  const nodes = Array.from({ length: size }, (_, place) => {
    const node_id = id(place + 1)
    const { nsk } = mintNsk('test', node_id)
    return simulatedNode({ node_id, name: `n-${place}`, nsk, private_key: '', psk_issued_at: issued(1) }, place)
  })
  const wheel = createTimerWheel(clock)
  void wheel.run(ended.signal)
  const atOnce: PacedLimiter = (_, work) => work()
  const book = createPeerBook()
  const deps: MeshAgentDeps = {
    client,
    statistics,
    clock,
    streams: undefined,
    wheel,
    tasks: createTaskTracker(wheel),
    until: ended.signal,
    notProvisioned: new Set(),
    isOutage: () => false,
    actions: { ...simulatedActions(() => deps), ...actions },
    mesh: {
      wire: {
        fetchEdgeKey: over('fetchEdgeKey', wire.fetchEdgeKey),
        fetchEdgeKeys: over('fetchEdgeKeys', wire.fetchEdgeKeys),
        fetchSecret: over('fetchSecret', wire.fetchSecret),
      },
      pull: pullsInThisThread({ pull: over('pull', wire.pull) })(book),
      book,
      policies: createPolicyBook(),
      bridges: createBridgeBook(),
      digest: createKnownEpochs(book),
      ledger: createEdgeLedger(),
      habits: { ...DEFAULT_HABITS, ...habits },
      wanted: createWantedRelease(),
      limiters: { pulls: atOnce, edgeKeys: atOnce, digests: atOnce, secrets: atOnce },
      pullsAtStart: true,
      isMadeHost: () => false,
      neighbours: (place) => nodes.filter((node) => node.place !== place).map(({ identity }) => identity.node_id),
    },
  }
  return {
    deps,
    clock,
    statistics,
    nodes,
    calls,
    called: () => calls.map(({ operation }) => operation),
    count: (name) => statistics.summary().counts[name] ?? Number.NaN,
    end: () => ended.abort(),
  }
}
