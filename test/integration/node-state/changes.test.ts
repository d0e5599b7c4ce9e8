import * as fc from 'fast-check'
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatEndpoint } from '../../../src/server/sql/endpoint-text.ts'
import { formatPskIssuedAt } from '../../../src/shared/mesh/psk-instant.ts'
import { canonicalize } from '../../../src/shared/canonical-json.ts'
import type { ControlPlane } from '../../support/server/control-plane.ts'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import {
  startPullingReplica,
  startStatefulFleet,
  stateRows,
  type PulledState,
  type Pulling,
  type StatefulFleet,
} from '../../support/fleet/node-states.ts'
import { STORES } from '../../support/datastores/stores.ts'

type Step =
  | {
      readonly does: 'enrol' | 'deregister' | 'rotate' | 'rename' | 'execute' | 'advance' | 'session' | 'end'
      readonly of: number
    }
  | { readonly does: 'endpoint'; readonly of: number; readonly port: number }
  | { readonly does: 'relays' | 'policy' | 'report'; readonly of: number; readonly to: number }
  | { readonly does: 'beat'; readonly of: number }

const of = fc.nat(5)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    does: fc.constantFrom('enrol', 'deregister', 'rotate', 'rename', 'execute', 'advance', 'session', 'end', 'beat'),
    of,
  }),
  fc.record({ does: fc.constant('endpoint'), of, port: fc.nat(3) }),
  fc.record({ does: fc.constantFrom('relays', 'policy', 'report'), of, to: of }),
)

describe.each(STORES)('Pulls of a Domain that changes, on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: StatefulFleet
    let replica: ControlPlane & Pulling
    let rows: ReturnType<typeof stateRows>
    beforeAll(async () => {
      fleet = await startStatefulFleet(store)
      replica = await startPullingReplica(fleet)
      rows = stateRows(fleet)
    }, 120_000)
    afterAll(async () => {
      await replica.stop()
      await fleet.stop()
    })

    async function startDomain() {
      const domain = await fleet.domain()
      const { token } = await fleet.token(domain, { max_uses: 10_000, labels: { tier: 'web' } })
      const nodes: Enrolled[] = []
      const join = async (): Promise<void> => {
        const { status, body } = await fleet.register(token)
        // Where the machine is busy, a statement may wait for too long.
        if (status >= 500) return join()
        if (status !== 201) throw new Error(`not registered: ${JSON.stringify(body)}`)
        const node = { node_id: String(body['node_id']), nsk: String(body['nsk']), domain_id: domain, mesh_address: '' }
        nodes.push(node)
      }
      return { domain, nodes, join, project: await fleet.project(domain), policyId: fleet.ids.next() }
    }

    type World = Awaited<ReturnType<typeof startDomain>>

    async function take({ domain, nodes, join, project, policyId }: World, what: Step): Promise<void> {
      fleet.wait(1)
      const node = nodes[what.of % Math.max(1, nodes.length)]
      if (what.does === 'enrol' || node === undefined) return join()
      const place = { nodeId: node.node_id, domainId: domain }
      const open = await fleet.db
        .selectFrom('executions')
        .select('id')
        .where('node_id', '=', node.node_id)
        .where('finished_at', 'is', null)
        .executeTakeFirst()
      switch (what.does) {
        case 'deregister':
          nodes.splice(nodes.indexOf(node), 1)
          await fleet.call(fleet.root, `DELETE /v1/nodes/${node.node_id}`)
          return
        case 'rotate':
          return rows.rotate(domain, node.node_id, randomBytes(32))
        case 'rename':
          await fleet.call(fleet.root, `PATCH /v1/nodes/${node.node_id}`, { name: `n-${fleet.ids.next()}` })
          return
        case 'endpoint': {
          const seen = what.port === 0 ? null : { host: '2001:db8::1', port: what.port }
          return rows.endpoint(domain, node.node_id, seen)
        }
        case 'relays':
          return rows.relays(domain, node.node_id, nodes[what.to]?.node_id ?? null)
        case 'policy':
          if (what.to === 0) return rows.withoutPolicy(policyId)
          await rows.policy(domain, { id: policyId, selector: what.to > 2 ? { tier: 'web' } : {}, rules: [what.to] })
          return
        case 'report':
          return rows.report(node.node_id, `k${what.to}`, { at: fleet.clock.nowMs })
        case 'execute':
          await rows.execution(place, { n: what.of })
          return
        case 'advance':
          return open && rows.executionIs(node.node_id, open.id, what.of > 2 ? 'ack' : 'succeeded')
        case 'session':
          await rows.session(place, project, what.of)
          return
        case 'end': {
          const live = await fleet.db
            .selectFrom('mediated_sessions')
            .select('id')
            .where('node_id', '=', node.node_id)
            .executeTakeFirst()
          return live && rows.sessionIsOver(node.node_id, live.id, what.of > 2 ? 'ended_at' : 'revoked_at')
        }
        case 'beat':
          await fleet.beat(node)
      }
    }

    it('are the naive document on every replica, and their tag moves when they do', { timeout: 300_000 }, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 20 }), async (steps) => {
          const world = await startDomain()
          for (let count = 0; count < 3; count++) await world.join()
          const last = new Map<string, PulledState>()
          for (const what of steps) {
            await take(world, what)
            const watched = world.nodes.slice(0, 3)
            const here = await Promise.all(watched.map((node) => fleet.pull(node.nsk, node.node_id)))
            const there = await Promise.all(watched.map((node) => replica.pull(node.nsk, node.node_id)))
            for (const [index, node] of watched.entries()) {
              const [pulled, other, before] = [here[index], there[index], last.get(node.node_id)]
              expect([pulled?.status, pulled?.text]).toEqual([200, await naive(world, node)])
              expect([other?.text, other?.etag]).toEqual([pulled?.text, pulled?.etag])
              if (before !== undefined && before.text !== pulled?.text) expect(pulled?.etag).not.toBe(before.etag)
              if (what.does === 'beat') expect(pulled?.etag).toBe(before?.etag ?? pulled?.etag)
              const known = before?.etag === pulled?.etag ? 304 : 200
              expect((await replica.pull(node.nsk, node.node_id, before?.etag)).status).toBe(known)
              if (pulled !== undefined) last.set(node.node_id, pulled)
            }
          }
        }),
        { numRuns: 2 },
      )
    })

    /** As somebody would write it who reads the rows one by one. */
    async function naive({ domain }: World, { node_id }: Enrolled): Promise<string> {
      const db = fleet.db
      const head = await db
        .selectFrom('domain_peers')
        .selectAll()
        .where('domain_id', '=', domain)
        .executeTakeFirstOrThrow()
      const nodes = await db.selectFrom('nodes').selectAll().where('domain_id', '=', domain).orderBy('id').execute()
      const self = nodes.find(({ id }) => id === node_id)
      const fresh = await db
        .selectFrom('node_endpoints')
        .selectAll()
        .where('last_endpoint_stale_at', 'is', null)
        .execute()
      const endpointOf = (id: string | null) => {
        const seen = fresh.find((each) => each.node_id === id)
        return formatEndpoint(seen?.last_endpoint ?? null, seen?.last_endpoint_port ?? null)
      }
      const relays = [
        { id: head.relay_node_id, port: head.relay_port },
        { id: head.second_relay_node_id, port: head.second_relay_port },
      ].filter((relay) => relay.id !== null)
      const fallbackOf = (id: string) => {
        const relay = relays.find((each) => each.id !== id)
        const host = fresh.find((each) => each.node_id === relay?.id)?.last_endpoint ?? null
        return formatEndpoint(host, relay?.port ?? null)
      }
      const policies = await db
        .selectFrom('policies')
        .innerJoin('policy_revisions as revision', 'revision.id', 'policies.revision_id')
        .innerJoin('policy_matches as matched', 'matched.policy_id', 'policies.id')
        .select(['policies.id', 'revision_id', 'fingerprint', 'rules'])
        .where('matched.node_id', '=', node_id)
        .execute()
      const reports = await db.selectFrom('node_state_reports').selectAll().where('node_id', '=', node_id).execute()
      const executions = await db
        .selectFrom('executions')
        .selectAll()
        .where('node_id', '=', node_id)
        .where('finished_at', 'is', null)
        .orderBy('requested_at')
        .execute()
      const sessions = await db
        .selectFrom('mediated_sessions')
        .selectAll()
        .where('node_id', '=', node_id)
        .where('revoked_at', 'is', null)
        .where('ended_at', 'is', null)
        .orderBy('issued_at')
        .execute()
      return canonicalize({
        peers: nodes
          .filter(({ id }) => id !== node_id)
          .map((peer) => ({
            node_id: peer.id,
            name: peer.name,
            public_key: peer.public_key.toString('base64'),
            mesh_address: peer.mesh_address,
            endpoint: endpointOf(peer.id),
            fallback_endpoint: fallbackOf(peer.id) || undefined,
            groups: [],
            psk_issued_at: formatPskIssuedAt(BigInt(peer.psk_issued_at)),
          })),
        policy: {
          policies: policies.map(({ id, revision_id, fingerprint, rules }) => ({
            policy_id: id,
            revision_id,
            fingerprint,
            rules: JSON.parse(rules),
          })),
        },
        bridge: { resources: [] },
        self: self && {
          name: self.name,
          mesh_address: self.mesh_address,
          mesh_cidr: '100.64.0.0/10',
          psk_issued_at: formatPskIssuedAt(BigInt(self.psk_issued_at)),
        },
        'state/reports': Object.fromEntries(reports.map(({ key, value }) => [key, JSON.parse(value)])),
        executions: executions.map(({ id, action, type, parameters, status, requested_at, expires_at }) => ({
          execution_id: id,
          action,
          type,
          parameters: parameters === null ? undefined : JSON.parse(parameters),
          status,
          requested_at: requested_at.toISOString(),
          expires_at: expires_at.toISOString(),
        })),
        sessions: sessions.map(({ id, kind, target, expires_at, idle_timeout_seconds }) => ({
          session_id: id,
          jti: id,
          kind,
          target,
          expires_at: expires_at.toISOString(),
          idle_timeout_seconds: idle_timeout_seconds ?? undefined,
        })),
      })
    }

    it('are whole while nodes join, and equal tags are equal bytes', { timeout: 120_000 }, async () => {
      const { nodes, join } = await startDomain()
      await join()
      const [node] = nodes
      if (node === undefined) throw new Error('nobody joined')
      const joined = { all: false }
      const joinTen = async () => {
        for (let count = 0; count < 10; count++) await join()
      }
      const joining = Promise.all(Array.from({ length: 5 }, joinTen)).finally(() => (joined.all = true))
      const pulls: PulledState[] = []
      for (let round = 0; round < 20 || !joined.all; round++) {
        const both = [fleet, replica].flatMap(({ pull }) =>
          Array.from({ length: 5 }, () => pull(node.nsk, node.node_id)),
        )
        pulls.push(...(await Promise.all(both)))
      }
      await joining
      const texts = new Map<string, string>()
      const ids = new Set(nodes.map(({ node_id }) => node_id))
      let most = 0
      for (const { status, etag, text, body } of pulls) {
        expect([status, texts.get(etag) ?? text]).toEqual([200, text])
        texts.set(etag, text)
        expect(canonicalize(body)).toBe(text)
        const peers = (body['peers'] as readonly { readonly node_id: string }[]).map((peer) => peer.node_id)
        expect(peers.every((id) => ids.has(id) && id !== node.node_id)).toBe(true)
        most = Math.max(most, peers.length)
      }
      expect(pulls.length).toBeGreaterThanOrEqual(200)
      expect(new Set([...texts.values()].map((text) => text.length)).size).toBeGreaterThan(1)
      const [last, there] = await Promise.all([fleet, replica].map(({ pull }) => pull(node.nsk, node.node_id)))
      expect([last?.body['peers'], last?.text]).toEqual([expect.any(Array), there?.text])
      expect(last?.body['peers']).toHaveLength(50)
      expect(most).toBeLessThanOrEqual(50)
    })
  })
})
