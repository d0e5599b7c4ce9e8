import { createPublicKey, verify } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RequestContext } from '../../../src/server/http/request-context.ts'
import { readWebhookQueue } from '../../../src/server/slices/webhooks/queue-store.ts'
import { createTestRuns } from '../../../src/server/slices/webhooks/test-runs.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { START_MS } from '../../support/server/test-backend.ts'
import { answer, silent, verified, type Received } from '../../support/webhooks/receiver.ts'
import { startWebhookFleet, type WebhookFleet } from '../../support/webhooks/webhook-fleet.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Verifies v1a: SPKI of an Ed25519 key (RFC 8410), then its 32 bytes. */
function isSignedBy(publicKey: unknown, { id, timestamp, body, headers }: Received): boolean {
  const raw = Buffer.from(String(publicKey).replace(/^whpk_/, ''), 'base64')
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw])
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
  const signatures = (headers['webhook-signature'] ?? '').split(' ').filter((each) => each.startsWith('v1a,'))
  return signatures.some((each) =>
    verify(null, Buffer.from(`${id}.${timestamp}.${body}`), key, Buffer.from(each.slice('v1a,'.length), 'base64')),
  )
}

describe.each(STORES)('Deliveries of webhooks on the $name store', (store) => {
  describe.skipIf(store.missing)('to an endpoint', () => {
    let fleet: WebhookFleet
    let domainId: string
    beforeAll(async () => {
      fleet = await startWebhookFleet(store)
    })
    beforeEach(async () => {
      fleet.clock.nowMs = START_MS
      fleet.receiver.answering = answer(204)
      domainId = await fleet.domain()
    })
    afterAll(() => fleet.stop())

    const ofWebhook = (webhook: { readonly [member: string]: unknown }) =>
      fleet.receiver.received.filter(({ path }) => String(webhook['url']).endsWith(path))
    const gotten = (webhook: { readonly [member: string]: unknown }, count: number) =>
      vi.waitFor(
        () => {
          const found = ofWebhook(webhook)
          expect(found).toHaveLength(count)
          return found
        },
        { timeout: 20_000, interval: 10 },
      )

    it('are verified by the library of Standard Webhooks, and have the id of the delivery', async () => {
      const webhook = await fleet.webhook(domainId)
      const id = await fleet.queue(webhook)
      await fleet.deliver()
      await fleet.reached(webhook, id, 'delivered')
      const [received] = await gotten(webhook, 1)
      if (received === undefined) throw new Error('nothing came')
      expect(received.headers).toMatchObject({ 'webhook-id': id, 'content-type': 'application/json' })
      expect(verified(String(webhook['secret']), received)).toMatchObject({ type: 'approval.requested' })
      expect(() => verified(`whsec_${Buffer.alloc(32).toString('base64')}`, received)).toThrow()
    })

    it('are verified with the public key of the webhook in the scheme v1a, whose private key is never shown', async () => {
      const webhook = await fleet.webhook(domainId, { scheme: 'v1a' })
      expect(webhook).not.toHaveProperty('secret')
      expect(webhook['public_key']).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/)
      const id = await fleet.queue(webhook)
      await fleet.deliver()
      await fleet.reached(webhook, id, 'delivered')
      const [received] = await gotten(webhook, 1)
      if (received === undefined) throw new Error('nothing came')
      expect(isSignedBy(webhook['public_key'], received)).toBe(true)
      expect(isSignedBy(webhook['public_key'], { ...received, body: `${received.body} ` })).toBe(false)
    })

    it.each(['v1', 'v1a'])('are signed by both keys for 24 hours after a rotation in the scheme %s', async (scheme) => {
      const before = await fleet.webhook(domainId, { scheme })
      const { body: after } = await fleet.call(fleet.root, `POST /v1/webhooks/${String(before['id'])}/rotate-secret`)
      expect(after['both_keys_until']).toBe('2026-03-02T08:00:00.000Z')
      const holds = (webhook: typeof before, received: Received): boolean => {
        if (scheme === 'v1a') return isSignedBy(webhook['public_key'], received)
        try {
          return verified(String(webhook['secret']), received)['type'] === 'approval.requested'
        } catch {
          return false
        }
      }
      const sent = async () => {
        const id = await fleet.queue(before)
        await fleet.deliver()
        await fleet.reached(before, id, 'delivered')
        const [received] = ofWebhook(before).filter((each) => each.id === id)
        if (received === undefined) throw new Error('nothing came')
        return [holds(before, received), holds(after, received)]
      }
      expect(await sent()).toEqual([true, true])
      fleet.clock.nowMs += DAY_MS
      expect(await sent()).toEqual([false, true])
      expect((await fleet.shown(before))['both_keys_until']).toBeNull()
      await fleet.runJob('old-webhook-keys')
      const keys = await fleet.db
        .selectFrom('webhook_keys')
        .select('retires_at')
        .where('webhook_id', '=', String(before['id']))
        .execute()
      expect(keys.map(({ retires_at: at }) => at !== null && at.getTime() < fleet.clock.nowMs)).not.toContain(true)
    })

    it('are repeated by the table of Standard Webhooks with the same id, and fail after the tenth attempt', async () => {
      fleet.receiver.answering = answer(500, {}, 'database is down\u001b[2J')
      const webhook = await fleet.webhook(domainId)
      const id = await fleet.queue(webhook)
      const waits: number[] = []
      for (let attempt = 1; attempt <= 10; attempt += 1) {
        await fleet.deliver()
        await gotten(webhook, attempt)
        const settled = await vi.waitFor(
          async () => {
            const found = await fleet.delivery(webhook, id)
            expect(found['last_attempt_at']).toBe(new Date(fleet.clock.nowMs).toISOString())
            return found
          },
          { timeout: 20_000, interval: 20 },
        )
        expect(settled).toMatchObject({
          attempts: attempt,
          last_status: 500,
          last_failure: 'The endpoint answered 500.',
          last_answer: 'database is down [2J',
        })
        if (attempt === 10) expect(settled).toMatchObject({ state: 'failed', next_attempt_at: null })
        else {
          const next = Date.parse(String(settled['next_attempt_at']))
          waits.push(next - fleet.clock.nowMs)
          fleet.clock.nowMs = next - 1
          await fleet.deliver()
          expect(ofWebhook(webhook)).toHaveLength(attempt)
          fleet.clock.nowMs = next
          // An endpoint that fails again and again is left alone for up to a minute.
          fleet.clock.nowMs += MINUTE_MS
        }
      }
      const table = [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000]
      expect(waits).toHaveLength(table.length)
      table.forEach((least, index) => {
        expect(waits[index]).toBeGreaterThanOrEqual(least)
        expect(waits[index]).toBeLessThanOrEqual(least * 1.1 + 1)
      })
      expect(new Set(ofWebhook(webhook).map((each) => each.id))).toEqual(new Set([id]))
      expect(new Set(ofWebhook(webhook).map((each) => each.body)).size).toBe(1)
    }, 180_000)

    it.each([429, 503])('wait for the longer Retry-After of %i, which holds up the whole endpoint', async (status) => {
      fleet.receiver.answering = answer(status, { 'retry-after': '1200' })
      const webhook = await fleet.webhook(domainId)
      const id = await fleet.queue(webhook)
      await fleet.deliver()
      await gotten(webhook, 1)
      await vi.waitFor(
        async () =>
          expect((await fleet.delivery(webhook, id))['next_attempt_at']).toBe(
            new Date(START_MS + 1_200_000).toISOString(),
          ),
        { timeout: 20_000 },
      )
      const other = await fleet.queue(webhook)
      fleet.clock.nowMs += 1_199_000
      await fleet.deliver()
      expect(ofWebhook(webhook)).toHaveLength(1)
      fleet.receiver.answering = answer(200)
      fleet.clock.nowMs += 1_000
      await fleet.deliver()
      await fleet.reached(webhook, id, 'delivered')
      await fleet.deliver()
      await fleet.reached(webhook, other, 'delivered')
    })

    it('that are answered with a redirect fail, and it is not followed', async () => {
      const webhook = await fleet.webhook(domainId)
      fleet.receiver.answering = answer(302, { location: `${fleet.receiver.url}/elsewhere` })
      const { body } = await fleet.call(fleet.root, `POST /v1/webhooks/${String(webhook['id'])}/test`)
      expect(body).toMatchObject({
        state: 'failed',
        last_status: 302,
        last_failure: 'The endpoint answered 302, a redirect, which is not followed.',
      })
      expect(fleet.receiver.received.filter(({ path }) => path === '/elsewhere')).toEqual([])
    })

    it('succeed by their status, however long the answer is', async () => {
      const webhook = await fleet.webhook(domainId)
      fleet.receiver.answering = (_received, response) => {
        response.writeHead(200)
        const write = (): void => {
          while (!response.destroyed && response.write('x'.repeat(65_536)));
        }
        response.on('drain', write)
        write()
      }
      const { body } = await fleet.call(fleet.root, `POST /v1/webhooks/${String(webhook['id'])}/test`)
      expect(body).toMatchObject({ state: 'delivered', last_status: 200, last_failure: null, last_answer: null })
    })

    it('end with the reason where no key can be opened, at no expense of the endpoint, and go on with a new key', async () => {
      fleet.expectedWarnings.add('a message was not sent: no signing key of its webhook can be opened')
      const webhook = await fleet.webhook(domainId)
      const id = await fleet.queue(webhook)
      // As under another master key: the bytes do not open in this place.
      await fleet.db
        .updateTable('webhook_keys')
        .set({ sealed: Buffer.alloc(64, 1) })
        .where('webhook_id', '=', String(webhook['id']))
        .execute()
      const reason =
        'Not sent: the server can open no signing key of the webhook. Make a new one with "ctl webhooks rotate-secret".'
      await fleet.deliver()
      expect(await fleet.reached(webhook, id, 'failed')).toMatchObject({
        attempts: 1,
        last_status: null,
        last_failure: reason,
        next_attempt_at: null,
      })
      const path = `POST /v1/webhooks/${String(webhook['id'])}`
      expect((await fleet.call(fleet.root, `${path}/test`)).body).toMatchObject({
        state: 'failed',
        last_failure: reason,
      })
      expect(await fleet.shown(webhook)).toMatchObject({ enabled: true, failing_since: null })
      expect(ofWebhook(webhook)).toEqual([])
      const { body: after } = await fleet.call(fleet.root, `${path}/rotate-secret`)
      await fleet.call(fleet.root, `${path}/deliveries/${id}/redeliver`)
      await fleet.deliver()
      await fleet.reached(webhook, id, 'delivered')
      const [received] = ofWebhook(webhook)
      if (received === undefined) throw new Error('nothing came')
      expect(verified(String(after['secret']), received)).toMatchObject({ type: 'approval.requested' })
    })

    it('of tests end when the server stops, and are due for the next process', async () => {
      const webhook = await fleet.webhook(domainId)
      const began = new EventEmitter()
      const asked = once(began, 'send')
      const tests = createTestRuns({
        ...fleet,
        stopMs: 10,
        send: (_message, signal) => {
          began.emit('send')
          return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined)))
        },
        settle: () => Promise.reject(new Error('nothing was sent')),
      })
      // Only these are asked for.
      const ctx = { nowMs: fleet.clock.nowMs, change: fleet.change } as unknown as RequestContext
      const row = await fleet.db
        .selectFrom('webhooks')
        .selectAll()
        .where('id', '=', String(webhook['id']))
        .executeTakeFirstOrThrow()
      const made = tests.run(ctx, row)
      await asked
      await tests.stop()
      const id = await made
      expect(await fleet.delivery(webhook, id)).toMatchObject({ state: 'pending', attempts: 0 })
      await fleet.deliver()
      await fleet.reached(webhook, id, 'delivered')
      expect(ofWebhook(webhook).map((each) => each.id)).toEqual([id])
    })

    it('disable the webhook at once when the endpoint answers 410, and say so', async () => {
      const webhook = await fleet.webhook(domainId)
      const [id, waiting] = [await fleet.queue(webhook), await fleet.queue(webhook)]
      await fleet.db
        .updateTable('webhook_deliveries')
        .set({ next_attempt_at: new Date(START_MS + HOUR_MS) })
        .where('id', '=', waiting)
        .execute()
      fleet.receiver.answering = answer(410)
      await expect(fleet.deliver()).resolves.toBe(false)
      await fleet.reached(webhook, id, 'failed')
      await fleet.reached(webhook, waiting, 'dropped')
      expect(await fleet.shown(webhook)).toMatchObject({
        enabled: false,
        disabled_at: '2026-03-01T08:00:00.000Z',
        disabled_reason: 'gone',
        pending: 0,
      })
      const { disabled } = await readWebhookQueue(fleet.db)
      expect(disabled.gone).toBeGreaterThan(0)
      const rows = await fleet.db
        .selectFrom('outbox')
        .select(['event', 'payload'])
        .where('aggregate', '=', `webhook:${String(webhook['id'])}`)
        .orderBy('id')
        .execute()
      expect(rows).toEqual([
        { event: 'WebhookCreated', payload: { webhook_id: webhook['id'] } },
        { event: 'WebhookDisabled', payload: { webhook_id: webhook['id'], reason: 'gone' } },
      ])
      const audit = await fleet.db
        .selectFrom('audit')
        .select(['subject', 'context'])
        .where('relation', '=', 'webhook.disable')
        .where('object', '=', `webhook:${String(webhook['id'])}`)
        .execute()
      expect(audit).toMatchObject([{ subject: 'system:webhooks', context: { disabled_reason: 'gone' } }])
    })

    it('disable the webhook after five days of failures alone, and enabling it begins anew', async () => {
      fleet.receiver.answering = answer(500)
      const webhook = await fleet.webhook(domainId)
      const failOnce = async (): Promise<void> => {
        // The others would be sent first, and the endpoint gets one attempt at a time while it fails.
        await fleet.db.deleteFrom('webhook_deliveries').where('webhook_id', '=', String(webhook['id'])).execute()
        const id = await fleet.queue(webhook)
        const at = new Date(fleet.clock.nowMs).toISOString()
        await fleet.deliver()
        await vi.waitFor(async () => expect((await fleet.delivery(webhook, id))['last_attempt_at']).toBe(at), {
          timeout: 20_000,
        })
      }
      for (let day = 0; day < 5; day += 1) {
        await failOnce()
        expect(await fleet.shown(webhook)).toMatchObject({ enabled: true, failing_since: '2026-03-01T08:00:00.000Z' })
        fleet.clock.nowMs += DAY_MS
      }
      await failOnce()
      expect(await fleet.shown(webhook)).toMatchObject({ enabled: false, disabled_reason: 'failing' })
      const { body } = await fleet.call(fleet.root, `PATCH /v1/webhooks/${String(webhook['id'])}`, { enabled: true })
      expect(body).toMatchObject({ enabled: true, disabled_at: null, disabled_reason: null, failing_since: null })
    }, 180_000)

    it('do not count failures as one outage where nothing was sent for two days in between', async () => {
      fleet.receiver.answering = answer(500)
      const webhook = await fleet.webhook(domainId)
      for (const at of [START_MS, START_MS + 6 * DAY_MS]) {
        fleet.clock.nowMs = at
        await fleet.db.deleteFrom('webhook_deliveries').where('webhook_id', '=', String(webhook['id'])).execute()
        const id = await fleet.queue(webhook)
        await fleet.deliver()
        await vi.waitFor(async () => expect((await fleet.delivery(webhook, id))['last_status']).toBe(500), {
          timeout: 20_000,
        })
      }
      expect(await fleet.shown(webhook)).toMatchObject({ enabled: true, failing_since: '2026-03-07T08:00:00.000Z' })
    })

    it('do not count failures of an address that the webhook had before', async () => {
      fleet.receiver.answering = answer(500)
      const webhook = await fleet.webhook(domainId)
      const id = await fleet.queue(webhook)
      await fleet.deliver()
      await vi.waitFor(async () => expect((await fleet.delivery(webhook, id))['last_status']).toBe(500), {
        timeout: 20_000,
      })
      const patch = async (url: string) =>
        (await fleet.call(fleet.root, `PATCH /v1/webhooks/${String(webhook['id'])}`, { url })).body
      expect(await patch(String(webhook['url']))).toMatchObject({ failing_since: '2026-03-01T08:00:00.000Z' })
      expect(await patch(`${String(webhook['url'])}/new`)).toMatchObject({ enabled: true, failing_since: null })
    })

    it('that were queued for a disabled webhook are dropped when it is enabled', async () => {
      const webhook = await fleet.webhook(domainId)
      const enable = (enabled: boolean) =>
        fleet.call(fleet.root, `PATCH /v1/webhooks/${String(webhook['id'])}`, { enabled })
      await enable(false)
      const id = await fleet.queue(webhook)
      await fleet.deliver()
      expect((await enable(true)).body).toMatchObject({ enabled: true, pending: 0 })
      expect((await fleet.delivery(webhook, id))['state']).toBe('dropped')
      expect(ofWebhook(webhook)).toEqual([])
    })

    it('to a silent endpoint hold up no other one, and at most two are on their way to it', async () => {
      const [slow, fast] = [await fleet.webhook(domainId), await fleet.webhook(domainId)]
      let mostOpen = 0
      fleet.receiver.answering = (received, response) => {
        mostOpen = Math.max(mostOpen, ofWebhook(slow).length)
        return String(slow['url']).endsWith(received.path)
          ? silent(received, response)
          : answer(204)(received, response)
      }
      for (let queued = 0; queued < 20; queued += 1) await fleet.queue(slow)
      const ids: string[] = []
      for (let queued = 0; queued < 10; queued += 1) ids.push(await fleet.queue(fast))
      await fleet.deliver()
      await vi.waitFor(
        async () => {
          await fleet.deliver()
          for (const id of ids) expect((await fleet.delivery(fast, id))['state']).toBe('delivered')
        },
        { timeout: 12_000, interval: 50 },
      )
      expect(ofWebhook(slow)).toHaveLength(2)
      expect(mostOpen).toBeLessThanOrEqual(2)
      await fleet.call(fleet.root, `DELETE /v1/webhooks/${String(slow['id'])}`)
    }, 180_000)

    it('to many silent endpoints that fail hold up no other one', async () => {
      const healthy = await fleet.webhook(domainId)
      let openThen = 0
      fleet.receiver.answering = (received, response) => {
        if (!String(healthy['url']).endsWith(received.path)) return silent(received, response)
        openThen = fleet.receiver.open()
        return answer(204)(received, response)
      }
      const before = fleet.receiver.received.length
      const slow: string[] = []
      // Below the eight of a Domain, and with more that waits than there is room for.
      for (let domains = 0; domains < 5; domains += 1) {
        const of = await fleet.domain()
        for (let webhooks = 0; webhooks < 7; webhooks += 1) {
          const webhook = await fleet.webhook(of)
          for (let queued = 0; queued < 3; queued += 1) await fleet.queue(webhook)
          slow.push(String(webhook['id']))
        }
      }
      await fleet.db.updateTable('webhooks').set({ failures: 1 }).where('id', 'in', slow).execute()
      while (await fleet.deliver());
      await fleet.receiver.gotten(before + slow.length)
      fleet.clock.nowMs += 1_000
      const id = await fleet.queue(healthy)
      await fleet.deliver()
      await fleet.reached(healthy, id, 'delivered')
      expect(openThen).toBeGreaterThan(20)
      await fleet.db.deleteFrom('webhooks').where('id', 'in', slow).execute()
    }, 180_000)

    it('are sent again by request with the same id and the table from its start', async () => {
      const webhook = await fleet.webhook(domainId)
      const id = await fleet.queue(webhook)
      await fleet.deliver()
      await fleet.reached(webhook, id, 'delivered')
      const path = `POST /v1/webhooks/${String(webhook['id'])}/deliveries/${id}/redeliver`
      const { body } = await fleet.call(fleet.root, path)
      expect(body).toMatchObject({ id, state: 'pending', next_attempt_at: '2026-03-01T08:00:00.000Z', ended_at: null })
      await fleet.deliver()
      expect(await fleet.reached(webhook, id, 'delivered')).toMatchObject({ attempts: 2 })
      expect((await gotten(webhook, 2)).map((each) => each.id)).toEqual([id, id])
      await fleet.call(fleet.root, `PATCH /v1/webhooks/${String(webhook['id'])}`, { enabled: false })
      expect((await fleet.call(fleet.root, path)).body['code']).toBe('webhook_disabled')
    })

    it('of a full queue are dropped from the oldest on and counted', async () => {
      const webhook = await fleet.webhook(domainId, { events: ['token.expiring'] })
      const owner = await fleet.principal(domainId)
      const at = new Date(START_MS)
      const ids = Array.from({ length: 10_000 }, () => fleet.ids.next())
      for (let from = 0; from < ids.length; from += 1_000) {
        await fleet.db
          .insertInto('webhook_deliveries')
          .values(
            ids.slice(from, from + 1_000).map((id) => ({
              id,
              webhook_id: String(webhook['id']),
              type: 'ctl.test' as const,
              event_key: id,
              message: '{}',
              state: 'pending' as const,
              next_attempt_at: new Date(START_MS + HOUR_MS),
              created_at: at,
            })),
          )
          .execute()
      }
      for (let made = 0; made < 2; made += 1) {
        const token = await fleet.apiToken(domainId, owner)
        await fleet.db.updateTable('api_tokens').set({ lifetime_seconds: 8_640_000 }).where('id', '=', token).execute()
      }
      await fleet.runJob('webhook-tokens')
      expect(await fleet.shown(webhook)).toMatchObject({ pending: 10_000, dropped: 2 })
      const dropped = await fleet.db
        .selectFrom('webhook_deliveries')
        .select('id')
        .where('webhook_id', '=', String(webhook['id']))
        .where('state', '=', 'dropped')
        .orderBy('id')
        .execute()
      expect(dropped.map(({ id }) => id)).toEqual(ids.slice(0, 2))
      await fleet.call(fleet.root, `DELETE /v1/webhooks/${String(webhook['id'])}`)
    }, 180_000)

    it('that ended are deleted after seven days, and beyond the newest 1,000 of a webhook', async () => {
      const webhook = await fleet.webhook(domainId)
      const ended = (count: number, agoMs: number) =>
        Array.from({ length: count }, (_, index) => ({
          id: fleet.ids.next(),
          webhook_id: String(webhook['id']),
          type: 'ctl.test' as const,
          event_key: fleet.ids.next(),
          message: '{}',
          state: 'delivered' as const,
          created_at: new Date(START_MS - agoMs),
          ended_at: new Date(START_MS - agoMs - index),
        }))
      const insert = (rows: ReturnType<typeof ended>) =>
        fleet.db.insertInto('webhook_deliveries').values(rows).execute()
      const count = async () =>
        (
          await fleet.db
            .selectFrom('webhook_deliveries')
            .select('id')
            .where('webhook_id', '=', String(webhook['id']))
            .execute()
        ).length
      await insert(ended(5, 7 * DAY_MS + 1))
      await insert(ended(1_003, 1_000))
      await fleet.runJob('old-webhook-deliveries')
      expect(await count()).toBe(1_003)
      await fleet.runJob('surplus-webhook-deliveries')
      expect(await count()).toBe(1_000)
    })
  })
})
