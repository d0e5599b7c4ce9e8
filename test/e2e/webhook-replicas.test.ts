import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { requirement } from '../support/run/requirements.mjs'
import {
  callServer,
  startReplicas,
  type Answered,
  type EnrolledNode,
  type Replicas,
} from '../support/server/replicas.ts'
import { answer, startReceiver, type Receiver } from '../support/webhooks/receiver.ts'

const REPORTS = 20

describe.skipIf(requirement('postgresql') === undefined)('Two replicas on one PostgreSQL', () => {
  let replicas: Replicas
  let receiver: Receiver
  let agent: EnrolledNode

  beforeAll(async () => {
    receiver = await startReceiver()
    replicas = await startReplicas(2, { SERVICE_WEBHOOK_ALLOW_HOSTS: '127.0.0.1' })
    const [first] = await replicas.enrol(1)
    if (first === undefined) throw new Error('no node was enrolled')
    agent = first
  }, 180_000)
  afterAll(async () => {
    await replicas?.stop()
    await receiver?.stop()
  }, 180_000)

  async function made(operation: string, body?: unknown, as = replicas.token): Promise<Answered['body']> {
    const [method = '', path = ''] = operation.split(' ')
    const [server] = replicas.servers
    if (server === undefined) throw new Error('there is no server')
    const answered = await callServer(server, { token: as, method, path, body })
    if (answered.status >= 300) throw new Error(`${operation}: ${answered.status} ${JSON.stringify(answered.body)}`)
    return answered.body
  }

  test('send each message once', async () => {
    receiver.answering = answer(204)
    const webhook = await made(`POST /v1/domains/${replicas.domainId}/webhooks`, {
      url: `${receiver.url}/hook`,
      events: ['integrity.opened'],
    })
    const violations = Array.from({ length: REPORTS }, (_, index) => ({
      kind: 'hook',
      artifact: `hook-${index}`,
      expected_checksum: 'ab'.repeat(32),
      observed_checksum: 'cd'.repeat(32),
      detected_at: new Date().toISOString(),
    }))
    await made(`POST /v1/nodes/${agent.id}/integrity-violations`, { violations }, agent.nsk)
    await vi.waitFor(
      async () => {
        const { items } = await made(`GET /v1/webhooks/${String(webhook['id'])}/deliveries?limit=200`)
        const states = (items as readonly { readonly state: string }[]).map(({ state }) => state)
        expect(states).toEqual(Array.from({ length: REPORTS }, () => 'delivered'))
      },
      { timeout: 60_000, interval: 200 },
    )
    expect(receiver.received).toHaveLength(REPORTS)
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(REPORTS)
  }, 120_000)
})
