import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startMigratedCluster } from '../support/datastores/migrated-cluster.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { callServer, enrol, type Answered, type EnrolledNode } from '../support/server/replicas.ts'
import { answer, silent, startReceiver, verified, type Received, type Receiver } from '../support/webhooks/receiver.ts'

/** The claim of a killed server ends after half a minute. */
const DELIVERED = { timeout: 90_000, interval: 250 }

// Most of the time goes into waiting for claims to end, which both stores do at once.
describe.concurrent.each(STORES)('kill -9 while webhooks are delivered, on the $name store', (store) => {
  describe.skipIf(store.missing).sequential('', () => {
    let folder: string
    let settings: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
    let stopStore: () => Promise<void> = async () => undefined
    let server: CtlProcess
    let token: string
    let receiver: Receiver
    let webhook: Answered['body']
    let agent: EnrolledNode
    let reports = 0

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'ctl-webhook-crash-'))
      const env: Record<string, string> = { SERVICE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }
      if (store.name === 'postgres') {
        const cluster = await startMigratedCluster()
        stopStore = () => cluster.stop()
        env['SERVICE_DATABASE_URL'] = cluster.url
      }
      const files = ['--data-dir', join(folder, 'data'), '--bootstrap-token-file', join(folder, 'token')]
      settings = { args: [...files, '--no-bundled-provider', '--webhook-allow-hosts', '127.0.0.1'], env }
      receiver = await startReceiver()
      server = await startCtl(settings)
      token = readFileSync(join(folder, 'token'), 'utf8').trim()
      const domainId = String((await made('GET /v1/auth/whoami'))['domain_id'])
      webhook = await made(`POST /v1/domains/${domainId}/webhooks`, {
        url: `${receiver.url}/hook`,
        events: ['integrity.opened'],
      })
      const [first] = await enrol(server, { token, domainId, nodes: 1 })
      if (first === undefined) throw new Error('no node was enrolled')
      agent = first
    }, 180_000)
    afterAll(async () => {
      await server?.end('SIGTERM')
      await receiver?.stop()
      await stopStore()
      rmSync(folder, { recursive: true, force: true })
    }, 180_000)

    async function made(operation: string, body?: unknown, as = token): Promise<Answered['body']> {
      const [method = '', path = ''] = operation.split(' ')
      const answered = await callServer(server, { token: as, method, path, body })
      if (answered.status >= 300) throw new Error(`${operation}: ${answered.status} ${JSON.stringify(answered.body)}`)
      return answered.body
    }

    /** Reports a violation that no report was about. It is stored when this resolves. */
    async function report(): Promise<void> {
      reports += 1
      const violations = [
        {
          kind: 'hook',
          artifact: `hook-${reports}`,
          expected_checksum: 'ab'.repeat(32),
          observed_checksum: 'cd'.repeat(32),
          detected_at: new Date().toISOString(),
        },
      ]
      await made(`POST /v1/nodes/${agent.id}/integrity-violations`, { violations }, agent.nsk)
    }

    async function restart(): Promise<void> {
      await server.end('SIGKILL')
      server = await startCtl(settings)
    }

    /** Resolves with all deliveries, once there is one for each report and all are delivered. */
    const allDelivered = () =>
      vi.waitFor(async () => {
        const { items } = await made(`GET /v1/webhooks/${String(webhook['id'])}/deliveries?limit=200`)
        const deliveries = items as readonly { readonly id: string; readonly state: string }[]
        expect(deliveries.map(({ state }) => state)).toEqual(Array.from({ length: reports }, () => 'delivered'))
        return deliveries
      }, DELIVERED)

    const violationOf = (received: Received): unknown =>
      (verified(String(webhook['secret']), received)['data'] as { readonly violation_id: unknown }).violation_id

    /** Each violation has one id, whatever was sent twice, and nothing else was sent. */
    async function expectOneIdEach(): Promise<void> {
      const ids = (await allDelivered()).map(({ id }) => id)
      const pairs = new Set(receiver.received.map((received) => `${received.id} ${String(violationOf(received))}`))
      expect(pairs.size).toBe(reports)
      expect(new Set(receiver.received.map(({ id }) => id))).toEqual(new Set(ids))
    }

    test('before anything is sent: it is sent after the restart', async () => {
      receiver.answering = answer(204)
      for (let times = 0; times < 3; times += 1) await report()
      await restart()
      await expectOneIdEach()
    }, 120_000)

    test('after the request and before the answer: it is sent again with the same id', async () => {
      receiver.answering = silent
      const before = receiver.received.length
      await report()
      await receiver.gotten(before + 1)
      await server.end('SIGKILL')
      receiver.answering = answer(204)
      server = await startCtl(settings)
      await expectOneIdEach()
      const [sent] = receiver.received.slice(before)
      expect(receiver.received.filter(({ id }) => id === sent?.id)).toHaveLength(2)
    }, 180_000)

    test('right after the answer: it is delivered, and what comes again has the same id', async () => {
      let answered: (() => void) | undefined
      receiver.answering = (received, response) => {
        response.on('finish', () => answered?.())
        return answer(204)(received, response)
      }
      const killed = new Promise<void>((resolve) => {
        answered = () => resolve(server.end('SIGKILL').then(() => undefined))
      })
      await report()
      await killed
      answered = undefined
      server = await startCtl(settings)
      await expectOneIdEach()
    }, 180_000)

    test('SIGTERM while an endpoint does not answer ends the server, and the message is sent at once by the next one', async () => {
      receiver.answering = silent
      const before = receiver.received.length
      await report()
      await receiver.gotten(before + 1)
      expect(await server.end('SIGTERM')).toBe(0)
      receiver.answering = answer(204)
      server = await startCtl(settings)
      await expectOneIdEach()
      const [delivery] = await allDelivered()
      const { items } = await made(`GET /v1/webhooks/${String(webhook['id'])}/deliveries?limit=1`)
      expect(items).toMatchObject([{ id: delivery?.id, attempts: 1 }])
    }, 180_000)

    test('no secret is in the log', () => {
      expect(server.stderr()).not.toContain(String(webhook['secret']).slice('whsec_'.length))
      expect(server.stderr()).not.toContain('/hook')
    })
  })
})
