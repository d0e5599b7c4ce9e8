import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Answer } from '../../support/server/control-plane.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { START_MS } from '../../support/server/test-backend.ts'
import { answer, silent } from '../../support/webhooks/receiver.ts'
import { startWebhookFleet, type WebhookFleet } from '../../support/webhooks/webhook-fleet.ts'

const URL = 'https://hooks.acme.example/ctl?key=secret-of-the-path'

describe.each(STORES)('Webhooks on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: WebhookFleet
    let domainId: string
    let admin: string
    beforeAll(async () => {
      fleet = await startWebhookFleet(store)
    })
    beforeEach(async () => {
      fleet.clock.nowMs = START_MS
      fleet.receiver.answering = answer(204)
      domainId = await fleet.domain()
      admin = await fleet.holder(domainId, 'admin', `domain:${domainId}`)
    })
    afterAll(() => fleet.stop())

    const create = (body: object, as = admin) => fleet.call(as, `POST /v1/domains/${domainId}/webhooks`, body)
    const codeOf = ({ status, body }: Answer) => [status, body['code']]
    const must = async (body: object): Promise<Readonly<Record<string, unknown>>> => (await create(body)).body

    it('have a secret of 32 bytes that is shown once, and is in no list, audit row or outbox row', async () => {
      const made = await create({ url: URL, events: ['node.online', 'node.offline', 'node.offline'] })
      expect(made.status).toBe(201)
      const { id, secret, ...shown } = made.body
      expect(Buffer.from(String(secret).replace(/^whsec_/, ''), 'base64')).toHaveLength(32)
      expect(made.headers.get('location')).toBe(`/v1/webhooks/${String(id)}`)
      expect(made.headers.get('cache-control')).toBe('no-store')
      expect(shown).toEqual({
        domain_id: domainId,
        url: URL,
        events: ['node.offline', 'node.online'],
        for_seconds: 300,
        description: null,
        scheme: 'v1',
        public_key: null,
        both_keys_until: null,
        enabled: true,
        disabled_at: null,
        disabled_reason: null,
        failing_since: null,
        pending: 0,
        dropped: 0,
        created_by: admin,
        created_at: '2026-03-01T08:00:00.000Z',
        updated_at: '2026-03-01T08:00:00.000Z',
      })
      const read = await fleet.call(admin, `GET /v1/webhooks/${String(id)}`)
      expect(read.body).toEqual({ id, ...shown })
      expect((await fleet.call(admin, `GET /v1/domains/${domainId}/webhooks`)).body['items']).toEqual([
        { id, ...shown },
      ])
      const rotated = await fleet.call(admin, `POST /v1/webhooks/${String(id)}/rotate-secret`)
      const written = JSON.stringify([
        await fleet.db.selectFrom('audit').selectAll().execute(),
        await fleet.db.selectFrom('outbox').selectAll().execute(),
        fleet.audited,
      ])
      for (const text of [String(secret), String(rotated.body['secret']), 'secret-of-the-path'])
        expect(written).not.toContain(text)
      const sealed = await fleet.db
        .selectFrom('webhook_keys')
        .select('sealed')
        .where('webhook_id', '=', String(id))
        .execute()
      for (const { sealed: bytes } of sealed)
        expect(bytes.includes(Buffer.from(String(secret).slice('whsec_'.length), 'base64'))).toBe(false)
    })

    it.each([
      'http://hooks.acme.example/',
      'ftp://hooks.acme.example/',
      'https://user:password@hooks.acme.example/',
      'https://hooks.acme.example/#fragment',
      'https://',
      'hooks.acme.example',
      'https://hooks.acme.example/a b',
      'https://hooks.acme.example/\u001b[2J',
      // More than 2,704 bytes, which no index takes.
      `https://hooks.acme.example/${'ア'.repeat(2000)}`,
      '',
      `https://hooks.acme.example/${'a'.repeat(2048)}`,
    ])('refuse the address %j', async (url) => {
      expect(codeOf(await create({ url, events: ['node.offline'] }))).toEqual([400, 'invalid_webhook_url'])
      const { id } = await must({ url: URL, events: ['node.offline'] })
      expect(codeOf(await fleet.call(admin, `PATCH /v1/webhooks/${String(id)}`, { url }))).toEqual([
        400,
        'invalid_webhook_url',
      ])
    })

    it('take plain http for a host that the server allows alone', async () => {
      expect((await create({ url: `${fleet.receiver.url}/x`, events: ['node.offline'] })).status).toBe(201)
    })

    it.each<readonly [object, string]>([
      [{ events: [] }, 'no events'],
      [{ events: ['node.exploded'] }, 'unknown events'],
      [{ events: ['node.online'] }, 'node.online alone'],
      [{ events: ['node.offline'], for_seconds: 29 }, 'less than 30 s'],
      [{ events: ['node.offline'], for_seconds: 86_401 }, 'more than a day'],
      [{ events: ['node.offline'], scheme: 'v2' }, 'unknown schemes'],
      [{ events: ['node.offline'], secret: 'whsec_mine' }, 'secrets of callers'],
    ])('refuse %j: %s', async (body, _what) => {
      expect(codeOf(await create({ url: URL, ...body }))).toEqual([400, 'invalid_body'])
    })

    it('are one for an address, and 20 in a Domain', async () => {
      expect((await create({ url: URL, events: ['node.offline'] })).status).toBe(201)
      expect(codeOf(await create({ url: URL, events: ['token.expiring'] }))).toEqual([409, 'webhook_already_exists'])
      const more = await Promise.all(
        Array.from({ length: 21 }, (_, index) => create({ url: `${URL}${index}`, events: ['node.offline'] })),
      )
      expect(more.filter(({ status }) => status === 201)).toHaveLength(19)
      for (const refused of more.filter(({ status }) => status !== 201))
        expect(codeOf(refused)).toEqual([409, 'webhook_limit_exceeded'])
      const elsewhere = await fleet.domain()
      const other = await fleet.call(fleet.root, `POST /v1/domains/${elsewhere}/webhooks`, {
        url: URL,
        events: ['node.offline'],
      })
      expect(other.status).toBe(201)
    })

    it('do not exist for those who may not manage the Domain', async () => {
      const { id } = await must({ url: URL, events: ['node.offline'] })
      const viewer = await fleet.holder(domainId, 'viewer', `domain:${domainId}`)
      const stranger = await fleet.principal(await fleet.domain())
      const nowhere = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
      for (const as of [viewer, stranger]) {
        for (const call of ['GET', 'DELETE']) {
          const there = await fleet.call(as, `${call} /v1/webhooks/${String(id)}`)
          const none = await fleet.call(as, `${call} /v1/webhooks/${nowhere}`)
          expect([codeOf(there), there.body['detail']]).toEqual([codeOf(none), none.body['detail']])
          expect(codeOf(there)).toEqual([404, 'webhook_not_found'])
        }
        const path = `/v1/webhooks/${String(id)}`
        for (const call of [`POST ${path}/test`, `POST ${path}/rotate-secret`, `GET ${path}/deliveries`])
          expect(codeOf(await fleet.call(as, call))).toEqual([404, 'webhook_not_found'])
        expect((await fleet.call(as, `GET /v1/domains/${domainId}/webhooks`)).status).toBe(403)
      }
    })

    it('are changed, disabled and enabled', async () => {
      const { id } = await must({ url: URL, events: ['node.offline'], description: 'Old' })
      const patch = (body: object) => fleet.call(admin, `PATCH /v1/webhooks/${String(id)}`, body)
      fleet.clock.nowMs += 1_000
      expect((await patch({ events: ['token.expiring'], for_seconds: 60, description: null })).body).toMatchObject({
        events: ['token.expiring'],
        for_seconds: 60,
        description: null,
        updated_at: '2026-03-01T08:00:01.000Z',
      })
      expect((await patch({ enabled: false })).body).toMatchObject({
        enabled: false,
        disabled_at: '2026-03-01T08:00:01.000Z',
        disabled_reason: 'requested',
      })
      fleet.clock.nowMs += 1_000
      expect((await patch({ enabled: false })).body['disabled_at']).toBe('2026-03-01T08:00:01.000Z')
      expect((await patch({ enabled: true })).body).toMatchObject({ enabled: true, disabled_reason: null })
      expect(codeOf(await patch({ scheme: 'v1a' }))).toEqual([400, 'invalid_body'])
      expect(codeOf(await patch({}))).toEqual([400, 'empty_patch'])
    })

    it('are tested within the request, also when disabled, and the result says why it failed', async () => {
      const webhook = await fleet.webhook(domainId)
      const path = `/v1/webhooks/${String(webhook['id'])}`
      const test = async () => (await fleet.call(admin, `POST ${path}/test`)).body
      expect(await test()).toMatchObject({ type: 'ctl.test', state: 'delivered', attempts: 1, last_status: 204 })
      fleet.receiver.answering = answer(404, {}, 'no such hook')
      await fleet.call(admin, `PATCH ${path}`, { enabled: false })
      expect(await test()).toMatchObject({
        state: 'failed',
        last_failure: 'The endpoint answered 404.',
        last_answer: 'no such hook',
        next_attempt_at: null,
      })
      await fleet.call(admin, `PATCH ${path}`, { url: 'http://127.0.0.1:1/', enabled: true })
      expect(await test()).toMatchObject({ last_failure: 'The endpoint cannot be reached: ECONNREFUSED.' })
      await fleet.call(admin, `PATCH ${path}`, { url: 'https://192.168.7.1/' })
      expect(await test()).toMatchObject({
        last_failure: 'The endpoint is not at a public address, and --webhook-allow-hosts does not name its host.',
      })
      await fleet.call(admin, `PATCH ${path}`, { url: fleet.receiver.url.replace('http:', 'https:') })
      const tls = await test()
      expect(tls['last_failure']).toMatch(/^The endpoint cannot be reached: \w+\.$/)
      // Tests say nothing about the messages.
      expect((await fleet.call(admin, `GET ${path}`)).body).toMatchObject({ enabled: true, failing_since: null })
    })

    it('answer two tests at once, and refuse a third', async () => {
      const webhook = await fleet.webhook(domainId)
      fleet.receiver.answering = silent
      const before = fleet.receiver.received.length
      const running = [1, 2].map(() => fleet.call(admin, `POST /v1/webhooks/${String(webhook['id'])}/test`))
      await fleet.receiver.gotten(before + 2)
      const third = await fleet.call(admin, `POST /v1/webhooks/${String(webhook['id'])}/test`)
      expect(codeOf(third)).toEqual([429, 'webhook_test_running'])
      for (const each of await Promise.all(running))
        expect(each.body['last_failure']).toBe('The endpoint gave no complete answer within 15 s.')
    }, 180_000)

    it('go with their Domain, and so does all that belongs to them', async () => {
      const empty = await fleet.domain()
      const webhook = await fleet.webhook(empty)
      await fleet.queue(webhook)
      expect((await fleet.call(fleet.root, `DELETE /v1/domains/${empty}`)).status).toBe(204)
      for (const table of ['webhook_keys', 'webhook_deliveries'] as const)
        expect(
          await fleet.db.selectFrom(table).select('id').where('webhook_id', '=', String(webhook['id'])).execute(),
        ).toEqual([])
      await expect(fleet.deliver()).resolves.toBe(false)
    })

    it('refuse to send a delivery of another webhook again', async () => {
      const [one, other] = [await fleet.webhook(domainId), await fleet.webhook(domainId)]
      const id = await fleet.queue(one)
      const path = `POST /v1/webhooks/${String(other['id'])}/deliveries/${id}/redeliver`
      expect(codeOf(await fleet.call(admin, path))).toEqual([404, 'webhook_delivery_not_found'])
    })
  })
})
