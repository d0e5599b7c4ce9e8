import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { startNatsServer, type NatsServer } from '../events/nats-server.ts'
import { callServer, startReplicas, type Replicas } from './replicas.ts'
import { startStreamAgent, type StreamAgent } from '../events/stream-agents.ts'

/** Two servers whose nodes are told of sessions all the while. */
export interface EventfulReplicas extends Replicas {
  /** Undefined where the events are in PostgreSQL. */
  readonly nats: NatsServer | undefined
  readonly agents: readonly StreamAgent[]
  /** Lets changes be committed until it is stopped; one a node and round. Resolves with how many were. */
  write(): { stop(): Promise<number> }
  /** Ids of the sessions that the node has to hear of, in the order in which they were committed. */
  expected(agent: StreamAgent): readonly string[]
}

const SESSION_SECONDS = 3_600

/** Starts everything, and waits until each agent has heard of one event, from which on it can miss none. */
export async function startEventfulReplicas(kind: 'event-log' | 'jetstream', nodes: number): Promise<EventfulReplicas> {
  const nats = kind === 'jetstream' ? await startNatsServer() : undefined
  const replicas = await startReplicas(2, nats && { SERVICE_NATS_URL: `nats://${nats.address}` })
  const agents = (await replicas.enrol(nodes)).map((node) => startStreamAgent(node, () => replicas.servers))
  const expected = new Map(agents.map((agent) => [agent, [] as string[]]))

  /** Commits what a session leaves in the outbox: nothing makes sessions yet. */
  async function commit(): Promise<void> {
    const client = new Client({ connectionString: replicas.cluster.url })
    client.on('error', () => undefined)
    await client.connect()
    try {
      for (const agent of agents) await commitOne(client, agent)
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  async function commitOne(client: Client, agent: StreamAgent): Promise<void> {
    const id = randomUUID()
    const expires_at = new Date(Date.now() + SESSION_SECONDS * 1_000).toISOString()
    const payload = { node_id: agent.node.id, session_id: id, jti: id, kind: 'ssh', target: 'host:22', expires_at }
    await client.query(
      `insert into outbox (event, domain_id, aggregate, payload, correlation_id, occurred_at)
       values ('session_issued', $1, $2, $3, 'test', now())`,
      [replicas.domainId, `session:${id}`, JSON.stringify(payload)],
    )
    expected.get(agent)?.push(id)
  }

  await openStreams(replicas, agents, commit)
  return {
    ...replicas,
    nats,
    agents,
    write() {
      const stopping = new AbortController()
      let rounds = 0
      const running = (async () => {
        while (!stopping.signal.aborted) {
          // The database may be down: what it did not acknowledge is not expected, unless it is there.
          await commit().then(
            () => (rounds += 1),
            () => reread(),
          )
          await sleep(20)
        }
        await reread()
        return rounds
      })()
      return {
        async stop() {
          stopping.abort()
          return running
        },
      }
    },
    expected: (agent) => expected.get(agent) ?? [],
    async stop() {
      for (const agent of agents) agent.stop()
      await replicas.stop()
      await nats?.stop()
    },
  }

  /** A commit whose acknowledgement was lost counts as well: the outbox says which there are. */
  async function reread(): Promise<void> {
    const rows = await replicas
      .rows(
        `select payload->>'node_id' as node, payload->>'session_id' as session from outbox
         where event = 'session_issued' order by id`,
      )
      .catch(() => undefined)
    if (rows === undefined) return
    for (const [agent, ids] of expected) {
      const found = rows.filter(({ node }) => node === agent.node.id).map(({ session }) => String(session))
      ids.splice(0, ids.length, ...found)
    }
  }
}

async function openStreams(
  { servers, token }: Replicas,
  agents: readonly StreamAgent[],
  commit: () => Promise<void>,
): Promise<void> {
  const [server] = servers
  if (server === undefined) throw new Error('there is no server')
  for (const deadline = Date.now() + 30_000; agents.some(({ connections }) => connections === 0); await sleep(20))
    if (Date.now() > deadline) throw new Error('no agent connects')
  await callServer(server, { token, path: '/v1/auth/whoami' })
  await sleep(500)
  await commit()
  for (const deadline = Date.now() + 30_000; agents.some(({ sessions }) => sessions.length === 0); await sleep(20))
    if (Date.now() > deadline)
      throw new Error(`an agent hears nothing: ${agents.flatMap(({ complaints }) => complaints).join('; ')}`)
}
