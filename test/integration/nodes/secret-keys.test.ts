import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createChangeFeed } from '../../../src/server/adapters/postgres/change-feed.ts'
import { createNskResolver } from '../../../src/server/slices/nodes/nsk-resolver.ts'
import { mintNsk } from '../../../src/shared/credential-formats.ts'
import { startFleet, type Enrolled, type Fleet } from '../../support/fleet/fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const GRACE_MS = 600_000

describe.each(STORES)('Node secret keys on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: Fleet
    let domain: string
    let node: Enrolled
    let startMs: number
    beforeAll(async () => {
      fleet = await startFleet(store)
      startMs = fleet.clock.nowMs
    })
    beforeEach(async () => {
      fleet.clock.nowMs = startMs
      domain = await fleet.domain()
      node = await fleet.enrol(domain)
    })
    afterAll(() => fleet.stop())

    const rotate = (as = fleet.root, id = node.node_id) => fleet.call(as, `POST /v1/nodes/${id}/nsk/rotate`)
    const revoke = (as = fleet.root, id = node.node_id) => fleet.call(as, `POST /v1/nodes/${id}/nsk/revoke`)
    const rotated = async (as = fleet.root): Promise<Enrolled> => {
      const answer = await rotate(as)
      if (answer.status !== 200) throw new Error(`not rotated: ${JSON.stringify(answer.body)}`)
      return { ...node, nsk: String(answer.body['nsk']) }
    }
    const outcome = async (key: Enrolled) => {
      const { status, body } = await fleet.beat(key)
      return status === 200 ? status : `${status} ${String(body['code'])}`
    }
    const shownKeys = async () => {
      const { body } = await fleet.call(fleet.root, `GET /v1/nodes/${node.node_id}`)
      return (body['nsk'] as { kid: string; retires_at: string | null }[]).map(({ retires_at }) => retires_at)
    }

    describe('rotated', () => {
      it('are answered once, with the id of the new key and the end of the old one', async () => {
        const answer = await rotate()
        expect(answer.status).toBe(200)
        const { nsk, kid, ...rest } = answer.body
        expect(nsk).toMatch(
          new RegExp(`^nsk_test_${node.node_id.replaceAll('-', '')}_${String(kid)}_[0-9A-Za-z_-]{43}$`),
        )
        expect(rest).toEqual({ previous_retires_at: '2026-03-01T08:10:00.000Z' })
        expect(await fleet.audit(answer)).toEqual({
          relation: 'node_secret_key.rotate',
          object: `node:${node.node_id}`,
          outcome: 'granted',
          reason: 'granted',
          domainId: domain,
        })
        expect(await shownKeys()).toEqual(['2026-03-01T08:10:00.000Z', null])
      })

      it('leave the old key working until the new one is first used, and not a call longer', async () => {
        const next = await rotated()
        expect(await outcome(node)).toBe(200)
        expect(await outcome(node)).toBe(200)
        fleet.wait(1_000)
        expect(await outcome(next)).toBe(200)
        expect(await outcome(node)).toBe('401 unauthorized')
        expect(await outcome(next)).toBe(200)
        expect(await shownKeys()).toEqual([null])
        const [used] = await fleet.db
          .selectFrom('node_secret_keys')
          .select('first_used_at')
          .where('node_id', '=', node.node_id)
          .where('retires_at', 'is', null)
          .execute()
        expect(used?.first_used_at).toEqual(new Date('2026-03-01T08:00:01.000Z'))
      })

      it('leave the old key working for ten minutes at most', async () => {
        const next = await rotated()
        fleet.wait(GRACE_MS - 1)
        expect(await outcome(node)).toBe(200)
        fleet.wait(1)
        expect(await outcome(node)).toBe('401 unauthorized')
        expect(await outcome(next)).toBe(200)
      })

      it('by an operator of the Domain; a viewer may not', async () => {
        const operator = await fleet.holder(domain, 'operator', `domain:${domain}`)
        expect(await rotate(operator)).toMatchObject({ status: 200 })
        const viewer = await fleet.holder(domain, 'viewer', `domain:${domain}`)
        expect(await rotate(viewer)).toMatchObject({
          status: 403,
          body: { missing_relation: { object: `node:${node.node_id}`, relation: 'node-operate', subject: viewer } },
        })
      })

      it('by the node itself, with a key that works; never by another node', async () => {
        const next = await rotated(node.nsk)
        expect(await outcome(next)).toBe(200)
        expect(await rotate(node.nsk)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
        const other = await fleet.enrol(domain)
        const answer = await rotate(other.nsk)
        expect(answer).toMatchObject({ status: 403, body: { code: 'node_id_mismatch' } })
        expect(await fleet.audit(answer)).toMatchObject({ outcome: 'permission_denied', reason: 'node_id_mismatch' })
      })

      it('again before the first answer arrived keep every elder to its own end', async () => {
        const second = await rotated()
        fleet.wait(GRACE_MS / 2)
        const third = await rotated(node.nsk)
        expect(await shownKeys()).toEqual(['2026-03-01T08:10:00.000Z', '2026-03-01T08:15:00.000Z', null])
        expect(await outcome(node)).toBe(200)
        expect(await outcome(second)).toBe(200)
        expect(await outcome(node)).toBe('401 unauthorized')
        expect(await outcome(third)).toBe(200)
        expect(await outcome(second)).toBe('401 unauthorized')
      })

      it('at once by many callers end in one newest key', async () => {
        const answers = await Promise.all([rotate(), rotate(), rotate()])
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
        const ends = await shownKeys()
        expect(ends.filter((end) => end === null)).toHaveLength(1)
        expect(ends).toHaveLength(4)
      })

      it('first used by many calls at once retire the elder once', async () => {
        const next = await rotated()
        const answers = await Promise.all([1, 2, 3, 4, 5].map(() => outcome(next)))
        expect(answers).toEqual([200, 200, 200, 200, 200])
        const changes = await fleet.db
          .selectFrom('authz_changes')
          .select('payload')
          .where('kind', '=', 'credential_changed')
          .execute()
        const ofNode = changes.filter(({ payload }) => JSON.stringify(payload).includes(node.node_id))
        expect(ofNode).toHaveLength(2)
      })

      it('not for a node that there is not', async () => {
        const answer = await rotate(fleet.root, NOWHERE)
        expect(answer).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
      })
    })

    describe('revoked', () => {
      it('cut the node off at once, all keys of it, until it is enrolled again', async () => {
        const next = await rotated()
        expect([await outcome(node)]).toEqual([200])
        const answer = await revoke()
        expect(answer.status).toBe(204)
        expect([await outcome(node), await outcome(next)]).toEqual(['401 nsk_revoked', '401 nsk_revoked'])
        expect(await shownKeys()).toEqual([])
        expect(await fleet.audit(answer)).toMatchObject({
          relation: 'node_secret_key.revoke',
          object: `node:${node.node_id}`,
          domainId: domain,
        })
        expect(await rotate()).toMatchObject({ status: 409, body: { code: 'nsk_not_active' } })
        const { token } = await fleet.token(domain, { node_id: node.node_id })
        const reborn = await fleet.register(token)
        expect(await outcome({ ...node, nsk: String(reborn.body['nsk']) })).toBe(200)
        expect(await outcome(next)).toBe('401 nsk_revoked')
      })

      it('again change nothing', async () => {
        await revoke()
        fleet.wait(1_000)
        expect(await revoke()).toMatchObject({ status: 204 })
        const rows = await fleet.db
          .selectFrom('node_secret_keys')
          .select('revoked_at')
          .where('node_id', '=', node.node_id)
          .execute()
        expect(rows).toEqual([{ revoked_at: new Date('2026-03-01T08:00:00.000Z') }])
      })

      it('are never revoked by a node, its own keys included', async () => {
        expect(await revoke(node.nsk)).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
        expect(await outcome(node)).toBe(200)
      })
    })

    describe('presented', () => {
      it('altered in any field are refused, and tell nothing of the node', async () => {
        const [prefix, env, hex, kid, ...rest] = node.nsk.split('_')
        const secret = rest.join('_')
        const flipped = (text: string) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1)
        const other = (await fleet.enrol(domain)).nsk.split('_')
        const altered = [
          [prefix, env, hex, kid, flipped(secret)],
          [prefix, env, hex, flipped(kid ?? ''), secret],
          [prefix, env, other[2], kid, secret],
          [prefix, 'prod', hex, kid, secret],
          [prefix, env, hex, kid],
        ]
        expect(await outcome(node)).toBe(200)
        for (const fields of altered) {
          expect(await outcome({ ...node, nsk: fields.join('_') })).toBe('401 unauthorized')
        }
        expect(await outcome(node)).toBe(200)
      })

      it('are resolved from memory once known, and from the datastore again after a change', async () => {
        const feed = createChangeFeed({ datastore: fleet.datastore, warn: () => undefined })
        const resolver = createNskResolver({ ...fleet, changeFeed: feed })
        expect(resolver.resolve(node.nsk)).toBeInstanceOf(Promise)
        await feed.start()
        const caller = await resolver.resolve(node.nsk)
        expect(caller).toMatchObject({ subject: `node:${node.node_id}`, kind: 'node', domainId: domain })
        expect(resolver.resolve(node.nsk)).toEqual(caller)
        feed.stop()
        expect(resolver.resolve(node.nsk)).toBeInstanceOf(Promise)
      })

      it('of a whole fleet that comes back at once are looked up in few statements, each for its own node', async () => {
        const nodes = await Promise.all(Array.from({ length: 40 }, () => fleet.enrol(domain)))
        let queries = 0
        const pool: typeof fleet.datastore.pool = (name) => {
          queries += 1
          return fleet.datastore.pool(name)
        }
        const feed = createChangeFeed({ datastore: fleet.datastore, warn: () => undefined })
        const resolver = createNskResolver({ ...fleet, changeFeed: feed, datastore: { ...fleet.datastore, pool } })
        const keys = nodes.map(({ nsk }) => nsk)
        const stranger = mintNsk('test', node.node_id).nsk
        const callers = await Promise.all([...keys, stranger, ...keys].map(async (key) => resolver.resolve(key)))
        const ids = nodes.map(({ node_id }) => expect.objectContaining({ id: node_id, domainId: domain }))
        expect(callers).toEqual([...ids, { refused: true, log: 'node secret key unknown' }, ...ids])
        expect(queries).toBe(1)
      })
    })

    describe.skipIf(store.name === 'embedded')('on two replicas', () => {
      /** The other replica: its own feed and cache over the same datastore. */
      const otherReplica = async () => {
        const feed = createChangeFeed({ datastore: fleet.datastore, warn: () => undefined })
        const resolver = createNskResolver({ ...fleet, changeFeed: feed })
        await feed.start()
        const caughtUp = async () => feed.waitFor(fleet.feed.revision(), 2_000)
        return { feed, resolver, caughtUp }
      }

      it('are refused on the other replica too once revoked, within the lease', async () => {
        const other = await otherReplica()
        await other.resolver.resolve(node.nsk)
        expect(other.resolver.resolve(node.nsk)).toMatchObject({ id: node.node_id })
        await revoke()
        await other.caughtUp()
        expect(await other.resolver.resolve(node.nsk)).toMatchObject({ refused: true, code: 'nsk_revoked' })
        other.feed.stop()
      })

      it('are retired on the other replica too once the new one is first used', async () => {
        const other = await otherReplica()
        const next = await rotated()
        await other.caughtUp()
        expect(await other.resolver.resolve(node.nsk)).toMatchObject({ id: node.node_id })
        expect(await outcome(next)).toBe(200)
        await other.caughtUp()
        expect(await other.resolver.resolve(node.nsk)).toEqual({ refused: true, log: 'node secret key retired' })
        other.feed.stop()
      })
    })
  })
})
