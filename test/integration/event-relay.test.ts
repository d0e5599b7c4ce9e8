import { payloadIn } from '../../src/shared/events/envelope.ts'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Leading } from '../../src/server/ports/leadership.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'
import { leadRelay } from '../support/events/relay-with-leader.ts'
import type { LeaderParts } from '../support/datastores/leading.ts'
import {
  AWAY,
  fingerprintOf,
  HOME,
  idOf,
  openWire,
  seedNodes,
  storeBridge,
  storeRevision,
  type RelayWorld,
} from '../support/events/relay-world.ts'

const NOW = Date.parse('2026-03-10T08:00:00.000Z')
const [A, B, C, D] = [idOf(0xa), idOf(0xb), idOf(0xc), idOf(0xd)]
const FOREIGN = idOf(0xf)
const POLICY = idOf(0x10)
const [FIRST, SECOND, THIRD] = [idOf(0x11), idOf(0x12), idOf(0x13)]
const BRIDGE = idOf(0x20)
/** Canonical, with what a careless renderer would change: a number in exponent form, an escape, members in UTF-16 order. */
const RULES = '[{"action":"allow","note":"a\\u000bb €","rate":1e+30,"ﬃ":1}]'
const NONE = fingerprintOf('[]')

const request = (nodeId: string, execution: number) => ({
  node_id: nodeId,
  execution_id: idOf(execution),
  action: 'ping',
  type: 'builtin',
  status: 'pending',
  requested_at: '2026-03-10T08:00:00.000Z',
  expires_at: '2026-03-10T08:05:00.000Z',
})
const issue = (nodeId: string, session: number) => ({
  node_id: nodeId,
  session_id: idOf(session),
  jti: idOf(session),
  kind: 'ssh',
  target: 'root@web',
  expires_at: '2026-03-10T09:00:00.000Z',
})

describe.each(STORES)('the event relay on the $name store', (store) => {
  describe.skipIf(store.missing)('with a leader', () => {
    const inUse = useDatastore(store)
    let parts: LeaderParts
    let leading: Leading
    let world: RelayWorld

    beforeEach(async () => {
      const nodes = [
        { id: A, labels: { role: 'web', zone: 'one' } },
        { id: B, labels: { role: 'web' } },
        { id: C, labels: { role: 'db', zone: 'one' } },
        { id: FOREIGN, domainId: AWAY, labels: { role: 'web', zone: 'one' } },
      ]
      ;({ parts, leading, world } = await leadRelay({ datastore: inUse.current(), nowMs: NOW, nodes }))
      return () => parts.feed.stop()
    })

    const db = () => inUse.current().pool('interactive')
    const everyone = () => world.bus.stored.map(({ nodeId, nodeSeq, type }) => `${nodeId.slice(-1)}${nodeSeq} ${type}`)
    const countOf = async (table: 'outgoing_events' | 'peer_hints' | 'node_hints' | 'node_lanes') =>
      Number((await db().selectFrom(table).select(db().fn.countAll().as('n')).executeTakeFirstOrThrow()).n)

    describe('an event for one node', () => {
      test('is sent as its payload, without undeclared members, numbered from 1 and signed', async () => {
        await world.emit(
          ['execution_requested', { ...request(A, 0x31), parameters: { b: 1, a: [true] }, requested_by: 'user:x' }],
          ['session_issued', { ...issue(A, 0x41), idle_timeout_seconds: 60, token: 'secret' }],
        )
        await world.settle()
        expect(world.bus.stored.map(({ wire }) => openWire(wire, world.signer))).toEqual([
          {
            api_version: 'v1',
            domain_id: HOME,
            event_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
            isSigned: true,
            kid: 'k1',
            node_id: A,
            node_seq: 1,
            occurred_at: '2026-03-10T08:00:00.000Z',
            payload: {
              execution_id: idOf(0x31),
              action: 'ping',
              type: 'builtin',
              parameters: { a: [true], b: 1 },
              status: 'pending',
              requested_at: '2026-03-10T08:00:00.000Z',
              expires_at: '2026-03-10T08:05:00.000Z',
            },
            type: 'action_request',
          },
          expect.objectContaining({
            isSigned: true,
            node_seq: 2,
            type: 'session_setup',
            payload: {
              session_id: idOf(0x41),
              jti: idOf(0x41),
              kind: 'ssh',
              target: 'root@web',
              expires_at: '2026-03-10T09:00:00.000Z',
              idle_timeout_seconds: 60,
            },
          }),
        ])
        expect(await countOf('outgoing_events')).toBe(0)
        expect(world.counts).toMatchObject({ published: { action_request: 1, session_setup: 1 } })
      })

      test('of its own blocks is hinted at once, each block once', async () => {
        await world.emit(
          ['rotate_keys', { node_id: A }],
          ['execution_cancelled', { node_id: A, execution_id: idOf(0x31) }],
          ['session_revoked', { node_id: A, session_id: idOf(0x41) }],
          ['execution_cancelled', { node_id: A, execution_id: idOf(0x32) }],
        )
        await world.settle()
        expect(world.received(A)).toEqual([
          ['node_state_updated', { reason: 'changed', blocks: ['executions', 'keys', 'sessions'], peers: [] }],
        ])
        expect(everyone()).toEqual(['a1 node_state_updated'])
        expect(await countOf('node_hints')).toBe(0)
        expect(world.counts.merged).toBe(3)
      })

      test('is dropped if the node has no lane', async () => {
        await world.emit(['execution_requested', request(D, 0x31)], ['rotate_keys', { node_id: D }])
        await world.settle()
        expect(world.bus.stored).toEqual([])
        expect(await countOf('node_hints')).toBe(0)
      })
    })

    describe('a policy', () => {
      const NUMBERS: Readonly<Record<string, number>> = { [FIRST]: 1, [SECOND]: 2, [THIRD]: 3 }
      const revise = (revision: string, nodeIds: readonly string[]) => {
        const number = NUMBERS[revision] ?? 0
        return storeRevision(inUse.current(), { id: revision, policyId: POLICY, number, rules: RULES, nodeIds })
      }
      const created = (revision: string, former: Readonly<Record<string, unknown>> = {}) =>
        ['policy_revision_created', { policy_id: POLICY, revision_id: revision, left_node_ids: [], ...former }] as const
      const told = (nodeId: string, revision: string) => [
        'policy_updated',
        {
          fingerprint: fingerprintOf(RULES),
          node_id: nodeId,
          policy_id: POLICY,
          revision_id: revision,
          rules: JSON.parse(RULES),
        },
      ]
      const ended = (nodeId: string, revision: string) => [
        'policy_updated',
        { fingerprint: NONE, node_id: nodeId, policy_id: POLICY, revision_id: revision, rules: [] },
      ]

      test('goes to each node that it matches, by ascending node id', async () => {
        await revise(FIRST, [B, A])
        await world.emit(created(FIRST))
        await world.settle()
        expect(everyone()).toEqual(['a1 policy_updated', 'b1 policy_updated'])
        expect([world.received(A), world.received(B)]).toEqual([[told(A, FIRST)], [told(B, FIRST)]])
      })

      test('carries the rules byte for byte as they are stored', async () => {
        await revise(FIRST, [A, C])
        await world.emit(created(FIRST))
        await world.settle()
        expect(world.bus.stored.map(({ wire }) => wire.includes(`"rules":${RULES}}`))).toEqual([true, true])
        expect(world.bus.stored.map(({ wire }) => payloadIn(wire))).toEqual(
          [A, C].map(
            (node) =>
              `{"fingerprint":"${fingerprintOf(RULES)}","node_id":"${node}","policy_id":"${POLICY}","revision_id":"${FIRST}","rules":${RULES}}`,
          ),
        )
      })

      test('ends for nodes that only its previous revision matched, with the id of that revision', async () => {
        await revise(FIRST, [A, B])
        await world.emit(created(FIRST))
        await world.settle()
        await revise(SECOND, [A, C])
        await world.emit(created(SECOND, { former_revision_id: FIRST, left_node_ids: [B] }))
        await world.settle()
        expect(everyone().slice(2)).toEqual(['a2 policy_updated', 'b2 policy_updated', 'c1 policy_updated'])
        expect(world.received(A)).toEqual([told(A, FIRST), told(A, SECOND)])
        expect(world.received(B)).toEqual([told(B, FIRST), ended(B, FIRST)])
        expect(world.received(C)).toEqual([told(C, SECOND)])
      })

      test('does not end for a node that a newer revision matches again', async () => {
        await revise(SECOND, [B])
        await revise(THIRD, [A, B])
        await world.emit(created(SECOND, { former_revision_id: FIRST, left_node_ids: [A, C] }), created(THIRD))
        await world.settle()
        expect(world.received(A)).toEqual([told(A, SECOND), told(A, THIRD)])
        expect(world.received(C)).toEqual([ended(C, FIRST)])
      })

      test('that is deleted ends for the listed nodes, in ascending order', async () => {
        await world.emit(['policy_deleted', { policy_id: POLICY, revision_id: FIRST, node_ids: [C, A, D, A] }])
        await world.settle()
        expect(everyone()).toEqual(['a1 policy_updated', 'c1 policy_updated'])
        expect([world.received(A), world.received(C)]).toEqual([[ended(A, FIRST)], [ended(C, FIRST)]])
      })

      test('whose revision was purged before the relay processed it is sent by its next event', async () => {
        await world.emit(created(FIRST), ['policy_deleted', { policy_id: POLICY, revision_id: FIRST, node_ids: [A] }])
        await world.settle()
        expect(world.received(A)).toEqual([ended(A, FIRST)])
      })

      test('whose current revision has no rules blocks the relay', async () => {
        await revise(FIRST, [A])
        await sql`delete from policy_revisions`.execute(db())
        await world.emit(['execution_requested', request(A, 0x31)], created(FIRST))
        await expect(world.settle()).rejects.toThrow(`the policy revision ${FIRST} is in force and has no rules`)
        expect(new Set(world.poison.map(({ seq }) => seq))).toEqual(new Set([2n]))
      })

      test('for thousands of nodes is processed in its own transaction', async () => {
        const many = Array.from({ length: 2_600 }, (_, index) => ({ id: idOf(0x1000 + index) }))
        await seedNodes(inUse.current(), many)
        const everybody = [A, B, C, ...many.map(({ id }) => id)]
        await revise(FIRST, everybody)
        await revise(SECOND, everybody)
        await world.emit(created(FIRST), created(SECOND))
        await world.jobs.numbering.run(leading)
        expect([await world.jobs.relay.run(leading), await countOf('outgoing_events')]).toEqual([true, 2_603])
        expect([await world.jobs.relay.run(leading), await countOf('outgoing_events')]).toEqual([false, 5_206])
      }, 180_000)

      test('is sent in the order of the outbox and never merged', async () => {
        for (const revision of [FIRST, SECOND, THIRD]) await revise(revision, [A])
        await world.emit(created(FIRST), ['execution_requested', request(A, 0x31)], created(SECOND), created(THIRD))
        await world.settle()
        expect(world.received(A)).toEqual([
          told(A, FIRST),
          ['action_request', expect.anything()],
          told(A, SECOND),
          told(A, THIRD),
        ])
        expect(world.bus.stored.filter(({ nodeId }) => nodeId === A).map(({ nodeSeq }) => nodeSeq)).toEqual([
          1n,
          2n,
          3n,
          4n,
        ])
      })
    })

    describe('a bridge', () => {
      const CONFIG = '{"relay":{"enabled":true,"listen_port":51820},"tunnels":[{"name":"\\u000b","weight":1e+21}]}'
      const LITERALS = [
        'bridge.RelayConfigured',
        'bridge.UserAccessProviderConfigured',
        'bridge.UserAccessProviderRemoved',
        'bridge.PublicIngressRuleConfigured',
        'bridge.PublicIngressRuleRemoved',
        'bridge.SiteToSiteTunnelConfigured',
        'bridge.SiteToSiteTunnelRemoved',
      ] as const
      const changed = (literal: (typeof LITERALS)[number] = 'bridge.RelayConfigured') =>
        [literal, { bridge_resource_id: BRIDGE, slug: 'edge' }] as const
      const place = (hosts: readonly string[], config = CONFIG) =>
        storeBridge(inUse.current(), { resourceId: BRIDGE, config, hosts })
      const payload = (nodeId: string, config = CONFIG) =>
        `{"bridge_resource_id":"${BRIDGE}","effective_config":${config},"node_id":"${nodeId}"}`
      const payloads = () => world.bus.stored.map(({ wire }) => payloadIn(wire))

      test.each(LITERALS)(
        'is sent to each host after %s, with the configuration byte for byte as it is stored',
        async (literal) => {
          await place([C, A])
          await world.emit(changed(literal))
          await world.settle()
          expect(everyone()).toEqual(['a1 bridge_config_updated', 'c1 bridge_config_updated'])
          expect(payloads()).toEqual([payload(A), payload(C)])
        },
      )

      test('ends once for a node that is no longer a host', async () => {
        await place([A, B])
        await world.emit(changed())
        await world.settle()
        await place([B, C])
        await world.emit(changed(), changed())
        await world.settle()
        await world.emit(changed())
        await world.settle()
        expect(world.bus.stored.filter(({ nodeId }) => nodeId === A).map(({ wire }) => payloadIn(wire))).toEqual([
          payload(A),
          payload(A, '{}'),
        ])
        expect(everyone()).toHaveLength(2 + 3 + 2 + 2)
      })

      test('that is removed ends once for each node that received it', async () => {
        await place([A, B])
        await world.emit(changed())
        await world.settle()
        await sql`delete from bridge_configs`.execute(db())
        await world.emit(changed('bridge.SiteToSiteTunnelRemoved'), changed('bridge.UserAccessProviderRemoved'))
        await world.settle()
        await world.emit(changed())
        await world.settle()
        expect(payloads()).toEqual([payload(A), payload(B), payload(A, '{}'), payload(B, '{}')])
      })

      test('that is created again is sent again', async () => {
        await place([A])
        await world.emit(changed())
        await world.settle()
        await place([])
        await world.emit(changed())
        await world.settle()
        await place([A])
        await world.emit(changed())
        await world.settle()
        expect(payloads()).toEqual([payload(A), payload(A, '{}'), payload(A)])
      })

      test('of nearly a megabyte is signed and published for a few hosts per pass, in order', async () => {
        await place([A, B, C], `{"relay":{"note":"${'x'.repeat(900_000)}"}}`)
        await world.emit(changed())
        await world.emit(changed())
        await world.relay()
        const signed = async () =>
          (await db().selectFrom('outgoing_events').select('wire').orderBy('id').execute()).filter(
            ({ wire }) => wire !== null,
          ).length
        expect([await world.jobs.signing.run(leading), await signed()]).toEqual([true, 3])
        expect([await world.jobs.signing.run(leading), await signed()]).toEqual([false, 6])
        expect([await world.jobs.publishing.run(leading), everyone().length]).toEqual([true, 3])
        expect(await world.jobs.publishing.run(leading)).toBe(false)
        const [order, type] = [['a1', 'b1', 'c1', 'a2', 'b2', 'c2'], 'bridge_config_updated']
        expect(everyone()).toEqual(order.map((event) => `${event} ${type}`))
      })
    })
  })
})
