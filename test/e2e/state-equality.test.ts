import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { depth } from '../support/run/depth.ts'
import { startNatsServer, type NatsServer } from '../support/events/nats-server.ts'
import {
  callServer,
  enrol,
  heartbeatOf,
  startReplicas,
  type EnrolledNode,
  type Replicas,
} from '../support/server/replicas.ts'
import { requirement } from '../support/run/requirements.mjs'

const ROUNDS = depth({ ci: 8, deep: 200 })
const NODES = 4
const isMissing = (['postgresql', 'nats-server'] as const).some((name) => requirement(name) === undefined)

/** The configuration of the only bridge of a node, in its state. An event has the same text. */
const CONFIG = /"resources":\[\{"bridge_resource_id":"[^"]+",("effective_config":\{.*?\})\}\]\}/

/** A state as it came over the wire. */
interface Pulled {
  readonly status: number
  readonly etag: string
  readonly text: string
}

describe.skipIf(isMissing)('two servers on one PostgreSQL and NATS', () => {
  let nats: NatsServer
  let replicas: Replicas
  beforeAll(async () => {
    nats = await startNatsServer()
    replicas = await startReplicas(2, { SERVICE_NATS_URL: `nats://${nats.address}` })
  }, 180_000)
  afterAll(async () => {
    await replicas?.stop()
    await nats?.stop()
  }, 180_000)

  const server = (via: number) => {
    const found = replicas.servers[via % 2]
    if (found === undefined) throw new Error('there are two servers')
    return found
  }

  async function pull(via: number, { id, nsk }: EnrolledNode, etag?: string): Promise<Pulled> {
    const response = await fetch(`${server(via).url}/v1/nodes/${id}/state`, {
      headers: { authorization: `Bearer ${nsk}`, ...(etag !== undefined && { 'if-none-match': etag }) },
      signal: AbortSignal.timeout(30_000),
    })
    return { status: response.status, etag: response.headers.get('etag') ?? '', text: await response.text() }
  }

  /** Calls a server and expects one of these answers. */
  async function send(via: number, token: string, operation: string, body?: unknown, statuses = [200, 201, 202, 204]) {
    const [method = '', path = ''] = operation.split(' ')
    const answer = await callServer(server(via), { token, method, path, body })
    expect(statuses, `${operation}: ${JSON.stringify(answer.body)}`).toContain(answer.status)
    return answer.body
  }

  /** A bridge whose relay the nodes' edges go by, until the leader hears that it is away. Gives its path. */
  async function relay(projectId: string, hosts: readonly EnrolledNode[]): Promise<string> {
    const body = { kind: 'bridge', slug: 'edge', display_name: 'Edge', host_node_ids: hosts.map(({ id }) => id) }
    const made = await send(0, replicas.token, `POST /v1/projects/${projectId}/resources`, body)
    const path = `/v1/projects/${projectId}/resources/${String(made['id'])}/bridge`
    await send(0, replicas.token, `PUT ${path}/relay`, { enabled: true, listen_port: 51_821 })
    return path
  }

  /** Changes a bridge through both servers: its relay's port, a rule that is there in every other round. */
  async function changeBridge(round: number, path: string, target: EnrolledNode | undefined): Promise<void> {
    const { token } = replicas
    await send(round, token, `PUT ${path}/relay`, { enabled: true, listen_port: 51_821 + round })
    const rule = { slug: 'shop', sni_host: 'shop.example.org', target_node_id: target?.id, target_port: 8_000 + round }
    if (round % 2 === 0) await send(round + 1, token, `POST ${path}/ingress`, rule)
    else await send(round + 1, token, `DELETE ${path}/ingress/shop`)
  }

  /** Reads a node's events from the first one on until one has this text. */
  async function untilEvent(via: number, { id, nsk }: EnrolledNode, text: string): Promise<void> {
    const ending = new AbortController()
    const response = await fetch(`${server(via).url}/v1/nodes/${id}/events`, {
      headers: { authorization: `Bearer ${nsk}`, 'last-event-id': '0' },
      signal: AbortSignal.any([ending.signal, AbortSignal.timeout(30_000)]),
    })
    const decoder = new TextDecoder()
    let seen = ''
    for await (const chunk of response.body ?? []) {
      seen += decoder.decode(chunk, { stream: true })
      if (seen.includes(text)) break
    }
    ending.abort()
    expect(seen).toContain(text)
  }

  /** One of everything that changes what nodes see, part of it through one server and part through the other. */
  async function change(round: number, nodes: readonly EnrolledNode[], projectId: string): Promise<void> {
    const { token } = replicas
    await Promise.all(
      nodes.map(async (node, index) => {
        const via = round + index
        const path = `/v1/nodes/${node.id}`
        await callServer(server(via), heartbeatOf(node))
        const reported_at = new Date().toISOString()
        const endpoint = `198.51.100.${(round % 3) + 1}:${51_820 + index}`
        await send(via + 1, node.nsk, `PUT ${path}/endpoint`, { endpoint, nat_type: 'cone', reported_at })
        await send(via, node.nsk, `PUT ${path}/state/reports/round`, { value: { round, at: reported_at } })
        const asked = await send(via + 1, token, `POST ${path}/executions`, { action: 'ping', type: 'builtin' })
        const execution = `POST ${path}/executions/${String(asked['execution_id'])}`
        for (const status of ['ack', 'started', 'succeeded'].slice(0, round % 4))
          await send(via + 1, node.nsk, execution, { status })
        const session = { node_id: node.id, kind: 'ssh', target: 'röot', ttl_seconds: 600 }
        await send(via, token, `POST /v1/projects/${projectId}/sessions`, session)
        if ((round + index) % 3 === 0) await rotate(via, node)
        if ((round + index) % 3 === 1) await send(via, token, `PATCH ${path}`, { name: `n-${index}-${round}` })
      }),
    )
  }

  async function rotate(via: number, { id, nsk }: EnrolledNode): Promise<void> {
    await send(via, replicas.token, `POST /v1/nodes/${id}/keys/rotate`)
    const spki = generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' })
    await send(via + 1, nsk, 'POST /v1/keys/rotate', { public_key: spki.subarray(12).toString('base64') })
  }

  /** A node that is there for a while. */
  async function comeAndGo(round: number): Promise<void> {
    const { domainId, token } = replicas
    const [guest] = await enrol(server(round), { token, domainId, nodes: 1 })
    if (guest === undefined) throw new Error('nobody joined')
    await callServer(server(round + 1), heartbeatOf(guest))
    // By the server that made it: the other one learns up to 200 ms later who may do what with it.
    await send(round, token, `DELETE /v1/nodes/${guest.id}`)
  }

  it(
    'give every node the same state under the same tag, while it changes through both and when it rests',
    async () => {
      const nodes = await replicas.enrol(NODES)
      const projects = await send(0, replicas.token, `GET /v1/domains/${replicas.domainId}/projects`)
      const [project] = projects['items'] as readonly { readonly id: string }[]
      const projectId = project?.id ?? ''
      const bridge = await relay(projectId, nodes.slice(0, 2))

      const texts = new Map<string, string>()
      const differing: string[] = []
      const note = ({ status, etag, text }: Pulled): void => {
        if (status !== 200) differing.push(`${status} ${text}`)
        else if ((texts.get(etag) ?? text) !== text) differing.push(`${etag}: ${text} and ${String(texts.get(etag))}`)
        else texts.set(etag, text)
      }
      const pulls = { of: [0, 0], done: false }
      const pulling = [0, 1].map(async (via) => {
        while (!pulls.done) {
          for (const each of await Promise.all(nodes.map((node) => pull(via, node)))) note(each)
          pulls.of[via] = (pulls.of[via] ?? 0) + 1
        }
      })
      try {
        for (let round = 0; round < ROUNDS; round++)
          await Promise.all([change(round, nodes, projectId), comeAndGo(round), changeBridge(round, bridge, nodes[3])])
      } finally {
        pulls.done = true
        await Promise.all(pulling)
      }
      expect(differing).toEqual([])
      expect(Math.min(...pulls.of)).toBeGreaterThan(ROUNDS / 2)
      expect(texts.size).toBeGreaterThan(ROUNDS * NODES)

      // The leader chooses the relay every other second: that is the last thing that changes.
      const relayed = async () =>
        expect((await pull(0, nodes[3] ?? { id: '', nsk: '' })).text).toContain('"fallback_endpoint":"198.51.100.')
      await vi.waitFor(relayed, { timeout: 60_000, interval: 250 })
      const configs: boolean[] = []
      for (const node of nodes) {
        const both = async () => {
          const [one, other] = await Promise.all([pull(0, node), pull(1, node)])
          expect(one.status).toBe(200)
          expect(other).toEqual(one)
          return one
        }
        const { etag, text } = await vi.waitFor(both, { timeout: 20_000, interval: 250 })
        expect(texts.get(etag) ?? text).toBe(text)
        expect([(await pull(0, node, etag)).status, (await pull(1, node, etag)).status]).toEqual([304, 304])
        // The bytes of the pull are those of the event that brought them, on both servers.
        const [, config] = CONFIG.exec(text) ?? []
        if (config !== undefined) for (const via of [0, 1]) await untilEvent(via, node, config)
        configs.push(config !== undefined)
      }
      expect(configs.filter(Boolean)).toHaveLength(2)
    },
    depth({ ci: 240_000, deep: 3_600_000 }),
  )
})
