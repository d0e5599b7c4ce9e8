import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createNodeWatch } from '../../../src/server/slices/webhooks/node-watch.ts'
import { createWebhookConsumer } from '../../../src/server/slices/webhooks/outbox-consumer.ts'
import { MESSAGE_SHAPES, type Message } from '../../../src/shared/webhooks/message-shapes.ts'
import type { MessageType } from '../../../src/shared/webhooks/event-types.ts'
import type { Leading } from '../../../src/server/ports/leadership.ts'
import type { NumberedEvent } from '../../../src/server/ports/outbox.ts'
import { unfenced } from '../../support/datastores/leading.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { START_MS } from '../../support/server/test-backend.ts'
import { startWebhookFleet, type WebhookFleet } from '../../support/webhooks/webhook-fleet.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const DAY_MS = 24 * 60 * MINUTE_MS
/** After so much silence a node is stale. */
const STALE_MS = 90 * SECOND_MS

const NODE_EVENTS = ['node.offline', 'node.online']

type Row = Readonly<Record<string, unknown>>

describe.each(STORES)('Messages of webhooks on the $name store', (store) => {
  describe.skipIf(store.missing)('are queued', () => {
    let fleet: WebhookFleet
    let domainId: string
    let slug: string
    beforeAll(async () => {
      fleet = await startWebhookFleet(store)
    })
    beforeEach(async () => {
      fleet.clock.nowMs = START_MS
      slug = `d-${fleet.ids.next()}`
      domainId = await fleet.domain(slug)
    })
    afterAll(() => fleet.stop())

    async function queued({ id }: Row): Promise<readonly Message[]> {
      const rows = await fleet.db
        .selectFrom('webhook_deliveries')
        .select('message')
        .where('webhook_id', '=', String(id))
        .orderBy('id')
        .execute()
      return rows.map(({ message }) => {
        const parsed = JSON.parse(message) as Message
        expect(MESSAGE_SHAPES[parsed.type].fits(parsed), message).toBe(true)
        return parsed
      })
    }
    const typesOf = async (webhook: Row): Promise<MessageType[]> => (await queued(webhook)).map(({ type }) => type)

    describe('about nodes', () => {
      /** Changes of reachability that the outbox has, for whoever leads. */
      const announced: NumberedEvent[] = []
      const announcementOf = (nodeId: string, to: string): NumberedEvent => ({
        seq: 1n,
        event: 'NodeReachabilityChanged',
        domainId,
        aggregate: `node:${nodeId}`,
        payload: { node_id: nodeId, from: to === 'healthy' ? 'stale' : 'healthy', to, changed_at: '' },
        correlationId: 'sweep-1',
        occurredAt: new Date(fleet.clock.nowMs),
      })

      /** The node's last heartbeat was so long ago, and its reachability is announced. */
      async function beat(nodeId: string, agoMs: number): Promise<void> {
        const at = new Date(fleet.clock.nowMs - agoMs)
        const state = agoMs < STALE_MS ? 'healthy' : agoMs < 300 * SECOND_MS ? 'stale' : 'unreachable'
        await sql`
          insert into node_heartbeats (node_id, created_at, accepted_at, healthy_since, announced_state)
          values (${nodeId}, ${at}, ${at}, ${at}, ${state})
          on conflict (node_id) do update set accepted_at = excluded.accepted_at,
            healthy_since = case when node_heartbeats.announced_state = 'healthy' then node_heartbeats.healthy_since
              else excluded.accepted_at end,
            announced_state = excluded.announced_state`.execute(fleet.db)
        announced.push(announcementOf(nodeId, state))
      }
      /** A leader that has led for long enough. */
      function leader() {
        const watch = createNodeWatch(fleet)
        const plain = unfenced(fleet)
        let transactions = 0
        let isBroken = false
        const leading: Leading = {
          ...plain,
          async transaction(work) {
            transactions += 1
            if (isBroken) throw new Error('the datastore is away')
            return plain.transaction(work)
          },
        }
        const consumer = createWebhookConsumer({ ...fleet, nodeWatch: watch })
        const pass = async (): Promise<boolean> => {
          await fleet.change((change) => consumer.handle(change, announced.splice(0)))
          return watch.job.run(leading)
        }
        return {
          pass,
          transactions: () => transactions,
          breaks: (to: boolean) => void (isBroken = to),
          async seasoned() {
            const nowMs = fleet.clock.nowMs
            fleet.clock.nowMs = nowMs - STALE_MS
            await pass()
            fleet.clock.nowMs = nowMs
            return pass
          },
        }
      }

      it('once a node has been stale for as long as the webhook asks for, and when it is back', async () => {
        const webhook = await fleet.webhook(domainId, { events: NODE_EVENTS, for_seconds: 30 })
        const node = await fleet.node({ domainId })
        const pass = await leader().seasoned()
        await beat(node, STALE_MS + 30 * SECOND_MS - 1)
        await pass()
        expect(await queued(webhook)).toEqual([])
        await beat(node, STALE_MS + 30 * SECOND_MS)
        await pass()
        await pass()
        const { name } = await fleet.db
          .selectFrom('nodes')
          .select('name')
          .where('id', '=', node)
          .executeTakeFirstOrThrow()
        const place = {
          domain_id: domainId,
          domain_slug: slug,
          path: `/v1/nodes/${node}`,
          node_id: node,
          node_name: name,
        }
        const offline = {
          type: 'node.offline',
          timestamp: '2026-03-01T08:00:00.000Z',
          data: { ...place, last_heartbeat_at: '2026-03-01T07:58:00.000Z' },
        }
        expect(await queued(webhook)).toEqual([offline])
        fleet.clock.nowMs += 10 * MINUTE_MS
        await beat(node, 0)
        await pass()
        await pass()
        const online = {
          type: 'node.online',
          timestamp: '2026-03-01T08:10:00.000Z',
          data: { ...place, offline_since: '2026-03-01T07:58:00.000Z' },
        }
        expect(await queued(webhook)).toEqual([offline, online])
        fleet.clock.nowMs += 10 * MINUTE_MS
        await beat(node, 5 * MINUTE_MS)
        await pass()
        expect(await typesOf(webhook)).toEqual(['node.offline', 'node.online', 'node.offline'])
      })

      it('by what each webhook asks for, and node.online only after its own node.offline', async () => {
        const soon = await fleet.webhook(domainId, { events: NODE_EVENTS, for_seconds: 30 })
        const late = await fleet.webhook(domainId, { events: NODE_EVENTS, for_seconds: 3_600 })
        const offlineOnly = await fleet.webhook(domainId, { events: ['node.offline'], for_seconds: 30 })
        const node = await fleet.node({ domainId })
        const pass = await leader().seasoned()
        await beat(node, 5 * MINUTE_MS)
        await pass()
        await beat(node, 0)
        await pass()
        expect(await typesOf(soon)).toEqual(['node.offline', 'node.online'])
        expect(await typesOf(late)).toEqual([])
        expect(await typesOf(offlineOnly)).toEqual(['node.offline'])
      })

      it('neither twice nor for flaps after a change of leader, and not before its time to find nodes again', async () => {
        const webhook = await fleet.webhook(domainId, { events: NODE_EVENTS, for_seconds: 30 })
        const [node, other] = [await fleet.node({ domainId }), await fleet.node({ domainId })]
        const before = await leader().seasoned()
        await beat(node, 5 * MINUTE_MS)
        await before()
        expect(await typesOf(webhook)).toEqual(['node.offline'])
        // A server that was down heard of nobody.
        const { pass } = leader()
        await beat(other, 5 * MINUTE_MS)
        await pass()
        fleet.clock.nowMs += STALE_MS - 1
        await pass()
        expect(await typesOf(webhook)).toEqual(['node.offline'])
        await beat(other, 0)
        fleet.clock.nowMs += 1
        await pass()
        expect(await typesOf(webhook)).toEqual(['node.offline'])
        await beat(node, 0)
        await pass()
        expect(await typesOf(webhook)).toEqual(['node.offline', 'node.online'])
      })

      it('never for a deregistered node, nor for one that never sent a heartbeat', async () => {
        const webhook = await fleet.webhook(domainId, { events: NODE_EVENTS, for_seconds: 30 })
        const [gone, never] = [await fleet.node({ domainId }), await fleet.node({ domainId })]
        await sql`insert into node_heartbeats (node_id, created_at) values (${never}, ${new Date(START_MS - DAY_MS)})`.execute(
          fleet.db,
        )
        const pass = await leader().seasoned()
        await beat(gone, 5 * MINUTE_MS)
        await fleet.db.deleteFrom('nodes').where('id', '=', gone).execute()
        await pass()
        expect(await queued(webhook)).toEqual([])
      })

      it('not for a disabled webhook, which learns what is so once it is enabled', async () => {
        const webhook = await fleet.webhook(domainId, { events: NODE_EVENTS, for_seconds: 30 })
        const [down, back] = [await fleet.node({ domainId }), await fleet.node({ domainId })]
        const pass = await leader().seasoned()
        await beat(back, 5 * MINUTE_MS)
        await pass()
        const path = `PATCH /v1/webhooks/${String(webhook['id'])}`
        await fleet.call(fleet.root, path, { enabled: false })
        await beat(back, 0)
        await beat(down, 5 * MINUTE_MS)
        await pass()
        expect(await typesOf(webhook)).toEqual(['node.offline'])
        await fleet.call(fleet.root, path, { enabled: true })
        await pass()
        expect((await typesOf(webhook)).toSorted()).toEqual(['node.offline', 'node.offline', 'node.online'])
      })

      it('once a webhook has waited for as long as it asks for, which is examined then and not before', async () => {
        const webhook = await fleet.webhook(domainId, { events: NODE_EVENTS, for_seconds: 3_600 })
        const node = await fleet.node({ domainId })
        const watch = leader()
        const pass = await watch.seasoned()
        await beat(node, STALE_MS)
        await pass()
        const examined = watch.transactions()
        fleet.clock.nowMs += 3_600 * SECOND_MS - 1
        await pass()
        expect(watch.transactions()).toBe(examined)
        fleet.clock.nowMs += 2
        await pass()
        expect(await typesOf(webhook)).toEqual(['node.offline'])
      })

      it('by a webhook that was created, or changed to ask for less, while the nodes were silent already', async () => {
        const webhook = await fleet.webhook(domainId, { events: NODE_EVENTS, for_seconds: 86_400 })
        const node = await fleet.node({ domainId })
        const pass = await leader().seasoned()
        await beat(node, 5 * MINUTE_MS)
        await pass()
        const other = await fleet.webhook(domainId, { events: NODE_EVENTS, for_seconds: 30 })
        await pass()
        expect([await typesOf(webhook), await typesOf(other)]).toEqual([[], ['node.offline']])
        fleet.clock.nowMs += SECOND_MS
        await fleet.call(fleet.root, `PATCH /v1/webhooks/${String(webhook['id'])}`, { for_seconds: 60 })
        await pass()
        expect(await typesOf(webhook)).toEqual(['node.offline'])
      })

      it('after a pass that failed, in the next one', async () => {
        const webhook = await fleet.webhook(domainId, { events: NODE_EVENTS, for_seconds: 30 })
        const node = await fleet.node({ domainId })
        const watch = leader()
        const pass = await watch.seasoned()
        for (const agoMs of [5 * MINUTE_MS, 0]) {
          await beat(node, agoMs)
          watch.breaks(true)
          await expect(pass()).rejects.toThrow('the datastore is away')
          watch.breaks(false)
          await pass()
        }
        expect(await typesOf(webhook)).toEqual(['node.offline', 'node.online'])
      })

      it('for 10,000 nodes at once in passes of 500, which cost nothing once they are announced', async () => {
        const webhook = await fleet.webhook(domainId, { events: NODE_EVENTS, for_seconds: 30 })
        const bulk = fleet.datastore.pool('bulk')
        for (let from = 1; from <= 10_000; from += 1_000)
          await sql`
            insert into nodes (id, domain_id, name, kind, public_key, mesh_address, psk_sealed, psk_issued_at, labels,
              ephemeral, created_at, updated_at)
            select gen_random_uuid(), ${domainId}, 'many-' || n, 'server', decode(md5(n::text) || md5(n::text), 'hex'),
              ('100.65.' || n / 256 || '.' || n % 256)::inet, '\\x00', 0, '{}', false, now(), now()
            from generate_series(${from}::integer, ${from + 999}::integer) as n`.execute(bulk)
        const at = new Date(START_MS - 5 * MINUTE_MS)
        await sql`
          insert into node_heartbeats (node_id, created_at, accepted_at, healthy_since, announced_state)
          select id, ${at}, ${at}, ${at}, 'unreachable' from nodes where domain_id = ${domainId}`.execute(bulk)
        const watch = leader()
        const pass = await watch.seasoned()
        let passes = 1
        while (await pass()) passes += 1
        expect(passes).toBeGreaterThanOrEqual(20)
        const examined = watch.transactions()
        await expect(pass()).resolves.toBe(false)
        expect(watch.transactions()).toBe(examined)
        const { rows } = await sql<{ count: number; nodes: number }>`
          select count(*)::int as count, count(distinct event_key)::int as nodes
          from webhook_deliveries where webhook_id = ${String(webhook['id'])}`.execute(fleet.db)
        expect(rows).toEqual([{ count: 10_000, nodes: 10_000 }])
        await sql`delete from webhooks where domain_id = ${domainId}`.execute(bulk)
        await sql`delete from node_heartbeats where node_id in (select id from nodes where domain_id = ${domainId})`.execute(
          bulk,
        )
      }, 120_000)
    })

    describe('about API tokens', () => {
      const token = async (owner: string, days: number, lifetimeDays: number, members: object = {}) => {
        const id = await fleet.apiToken(domainId, owner, members)
        await fleet.db
          .updateTable('api_tokens')
          .set({ expires_at: new Date(START_MS + days * DAY_MS), lifetime_seconds: (lifetimeDays * DAY_MS) / 1000 })
          .where('id', '=', id)
          .execute()
        return id
      }

      it('seven days before the end, once', async () => {
        const webhook = await fleet.webhook(domainId, { events: ['token.expiring'] })
        const owner = await fleet.principal(domainId, 'service-identity')
        const id = await token(owner, 7, 90)
        await token(owner, 7.001, 90)
        for (let pass = 0; pass < 2; pass += 1) await fleet.runJob('webhook-tokens')
        expect(await queued(webhook)).toEqual([
          {
            type: 'token.expiring',
            timestamp: '2026-03-01T08:00:00.000Z',
            data: {
              domain_id: domainId,
              domain_slug: slug,
              path: `/v1/admin/tokens/${id}`,
              token_id: id,
              name: 'arranged',
              owner,
              expires_at: '2026-03-08T08:00:00.000Z',
            },
          },
        ])
        await fleet.db.deleteFrom('webhook_deliveries').execute()
        await fleet.runJob('webhook-tokens')
        expect(await queued(webhook)).toEqual([])
      })

      it('not for those that are revoked, replaced, hidden or over, or that live no longer than a week', async () => {
        const webhook = await fleet.webhook(domainId, { events: ['token.expiring'] })
        const owner = await fleet.principal(domainId)
        for (const members of [{ revoked: true }, { rotated: true }, { hidden: true }])
          await token(owner, 1, 90, members)
        await token(owner, -1, 90)
        await token(owner, 1, 7)
        await fleet.runJob('webhook-tokens')
        expect(await queued(webhook)).toEqual([])
      })
    })

    describe('about events of the outbox', () => {
      const VIOLATION = '01935b5e-8f3a-7c61-9d0a-0000000000a1'
      let node: string
      beforeEach(async () => {
        node = await fleet.node({ domainId })
      })
      const event = (literal: string, payload: object, at = START_MS): NumberedEvent => ({
        seq: 1n,
        event: literal,
        domainId,
        aggregate: 'thing:1',
        payload,
        correlationId: 'crossing-1',
        occurredAt: new Date(at),
      })
      const consume = (events: readonly NumberedEvent[]) =>
        fleet.change((change) =>
          createWebhookConsumer({ ...fleet, nodeWatch: createNodeWatch(fleet) }).handle(change, events),
        )

      const sources = (): readonly NumberedEvent[] => [
        event('ApprovalRequested', {
          approval_id: VIOLATION,
          kind: 'held_call',
          object: `domain:${domainId}`,
          action: 'rollouts.start',
          requested_by: 'user:someone',
        }),
        event('CapacityThresholdCrossed', { domain_id: domainId, dimension: 'nodes' }),
        event('IntegrityViolationOpened', {
          violation_id: VIOLATION,
          node_id: node,
          kind: 'hook',
          artifact_id: VIOLATION,
        }),
        event('RolloutHalted', { rollout_id: VIOLATION, slug: 'r1', version: '1.5.0', reason: 'Free text' }),
      ]

      it('with ids, names and the path of the object, each once', async () => {
        const events = ['approval.requested', 'capacity.crossed', 'integrity.opened', 'rollout.halted']
        const webhook = await fleet.webhook(domainId, { events })
        for (let times = 0; times < 2; times += 1) await consume(sources())
        const messages = await queued(webhook)
        expect(messages.map(({ type }) => type)).toEqual(events)
        const place = { domain_id: domainId, domain_slug: slug }
        const { name } = await fleet.db
          .selectFrom('nodes')
          .select('name')
          .where('id', '=', node)
          .executeTakeFirstOrThrow()
        expect(messages.map(({ data }) => data)).toEqual([
          {
            ...place,
            path: `/v1/approvals/${VIOLATION}`,
            approval_id: VIOLATION,
            kind: 'held_call',
            action: 'rollouts.start',
            object: `domain:${domainId}`,
            requested_by: 'user:someone',
          },
          { ...place, path: `/v1/domains/${domainId}/capacity`, dimension: 'nodes' },
          {
            ...place,
            path: `/v1/integrity-violations/${VIOLATION}`,
            violation_id: VIOLATION,
            kind: 'hook',
            node_id: node,
            node_name: name,
          },
          { ...place, path: `/v1/rollouts/${VIOLATION}`, rollout_id: VIOLATION, slug: 'r1', version: '1.5.0' },
        ])
      })

      it('only for enabled webhooks of the Domain that subscribe to them and were there', async () => {
        const [other, disabled] = [
          await fleet.webhook(domainId, { events: ['token.expiring'] }),
          await fleet.webhook(domainId, { events: ['rollout.halted'] }),
        ]
        await fleet.call(fleet.root, `PATCH /v1/webhooks/${String(disabled['id'])}`, { enabled: false })
        const elsewhere = await fleet.webhook(await fleet.domain(), { events: ['rollout.halted'] })
        fleet.clock.nowMs += 1
        const later = await fleet.webhook(domainId, { events: ['rollout.halted'] })
        await consume(sources())
        for (const webhook of [other, disabled, elsewhere, later]) expect(await queued(webhook)).toEqual([])
      })
    })
  })
})
