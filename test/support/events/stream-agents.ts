import { followStream, type Frame } from '../../../src/client/event-stream.ts'
import { readKeySet } from '../../../src/shared/audit/key-set.ts'
import { createEventOrder } from '../../../src/shared/events/order.ts'
import { createEnvelopeVerifier, type FindKey } from '../../../src/shared/events/verifier.ts'
import { systemRetryClock } from '../../../src/client/retry.ts'
import { createTransport, type OpenAnswer } from '../../../src/client/transport.ts'
import type { CtlProcess } from '../server/ctl-process.ts'
import type { EnrolledNode } from '../server/replicas.ts'

/** What one node's agent has heard over any number of connections. */
export interface StreamAgent {
  readonly node: EnrolledNode
  /** Ids of the sessions that it was to set up, in the order in which they came. */
  readonly sessions: string[]
  /** What an agent must never see: refused envelopes, numbers that were left out, events not told. */
  readonly complaints: string[]
  connections: number
  stop(): void
}

/** Follows the events of a node on one server after the other, and verifies each. */
export function startStreamAgent(node: EnrolledNode, servers: () => readonly CtlProcess[]): StreamAgent {
  const stopping = new AbortController()
  const order = createEventOrder()
  const verify = createEnvelopeVerifier({ findKey: keysOf(servers) })
  const agent: StreamAgent = { node, sessions: [], complaints: [], connections: 0, stop: () => stopping.abort() }

  async function take({ data }: Frame): Promise<boolean> {
    const verified = await verify(data, { nodeId: node.id })
    if (!verified.ok) {
      agent.complaints.push(`${verified.fault}: ${data}`)
      return true
    }
    const { node_seq: nodeSeq, occurred_at, payload, type } = verified.envelope
    const said: Readonly<Record<string, unknown>> = { ...payload }
    const isResync = said['reason'] === 'resync'
    const place = order.take({ nodeSeq, occurredAtMs: Date.parse(occurred_at), isResync })
    if (place.kind === 'gap' || place.kind === 'reordered' || (place.kind === 'resync' && place.skipped > 0))
      agent.complaints.push(`${place.kind} at ${nodeSeq}`)
    if (type === 'session_setup' && place.kind !== 'duplicate') agent.sessions.push(String(said['session_id']))
    return true
  }

  const connect = (headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<OpenAnswer> => {
    const all = servers()
    const server = all[agent.connections % all.length]
    agent.connections += 1
    if (server === undefined) throw new Error('there is no server')
    return createTransport({ url: server.url }).open({
      method: 'GET',
      path: `/v1/nodes/${node.id}/events`,
      headers: { ...headers, authorization: `Bearer ${node.nsk}` },
      signal,
    })
  }
  const listener = { frame: take, opened: () => order.connected() }
  followStream({ connect, signal: stopping.signal, clock: IMPATIENT }, listener).catch(
    (error: unknown) => void agent.complaints.push(`the stream is over: ${String(error)}`),
  )
  return agent
}

/** Pauses of a twentieth: tests are in a hurry. */
const IMPATIENT = {
  ...systemRetryClock,
  sleep: (ms: number, signal: AbortSignal | undefined) => systemRetryClock.sleep(ms / 20, signal),
}

/** The keys that a server publishes, asked for whenever one is not known yet. */
function keysOf(servers: () => readonly CtlProcess[]): FindKey {
  let known: ReturnType<typeof readKeySet> = []
  return async (kid) => {
    for (const { url } of known.some((key) => key.kid === kid) ? [] : servers()) {
      const answer = await fetch(`${url}/v1/signing-keys`).catch(() => undefined)
      if (answer?.ok === true) known = readKeySet(await answer.json())
      if (known.some((key) => key.kid === kid)) break
    }
    return known.find((key) => key.kid === kid)
  }
}
