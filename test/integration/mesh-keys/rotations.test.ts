import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { RequestContext } from '../../../src/server/http/request-context.ts'
import { createMeshKeys } from '../../../src/server/slices/mesh-keys/service.ts'
import { parseNsk } from '../../../src/shared/credential-formats.ts'
import type { Answer } from '../../support/server/control-plane.ts'
import { freshPublicKey, type Enrolled } from '../../support/fleet/fleet.ts'
import { startKeyedFleet, type KeyedFleet } from '../../support/fleet/keyed-fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const LOW_ORDER = Buffer.alloc(32).toString('base64')
const FIRST = '2026-03-01T08:00:00.000000000Z'

describe.each(STORES)('Rotations of node keys on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: KeyedFleet
    let domain: string
    let node: Enrolled
    let peer: Enrolled
    beforeAll(async () => {
      fleet = await startKeyedFleet(store)
    })
    beforeEach(async () => {
      domain = await fleet.domain()
      node = await fleet.enrol(domain)
      peer = await fleet.enrol(domain)
    })
    afterAll(() => fleet?.stop())

    const latest = (id = node.node_id, as = fleet.root) => fleet.call(as, `GET /v1/nodes/${id}/keys/rotate`)
    const preview = (id = node.node_id, as = fleet.root) => fleet.call(as, `GET /v1/nodes/${id}/keys/rotate/preview`)
    const shown = async (of = node) => (await fleet.call(fleet.root, `GET /v1/nodes/${of.node_id}`)).body
    /** What heartbeats hint at. */
    const isHinted = async (of = node) => (await shown(of))['rotation_pending']
    const rotationsOf = (id = node.node_id) =>
      fleet.db.selectFrom('key_rotations').selectAll().where('node_id', '=', id).execute()
    const revisions = async () => {
      const of = await fleet.db
        .selectFrom('nodes as n')
        .innerJoin('domain_peers as d', 'd.domain_id', 'n.domain_id')
        .select(['n.peer_revision', 'd.revision', 'd.whole_revision'])
        .where('n.id', '=', node.node_id)
        .executeTakeFirstOrThrow()
      return [of.peer_revision, of.revision, of.whole_revision].map(Number)
    }
    const outcome = ({ status, body }: Answer) => (status < 300 ? status : `${status} ${String(body['code'])}`)
    const where = () => ({ domain_id: domain, aggregate: `node:${node.node_id}` })

    describe('asked for', () => {
      it('wait for the node: a handle, one event for it, and the hint of its heartbeats', async () => {
        const answer = await fleet.rotate(node.node_id)
        expect(answer).toMatchObject({ status: 202 })
        expect(answer.body).toEqual({
          rotation_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          node_id: node.node_id,
          state: 'pending',
          requested_at: '2026-03-01T08:00:00.000Z',
          requested_by: fleet.root,
          completed_at: null,
        })
        const { rotation_id } = answer.body
        expect(await fleet.outbox(answer)).toEqual([
          { event: 'rotate_keys', ...where(), payload: { node_id: node.node_id, rotation_id } },
        ])
        expect(await fleet.audit(answer)).toEqual({
          relation: 'node_keys.rotate',
          object: `node:${node.node_id}`,
          outcome: 'granted',
          reason: 'granted',
          domainId: domain,
        })
        expect([await isHinted(), await isHinted(peer)]).toEqual([true, false])
        expect((await latest()).body).toEqual(answer.body)
      })

      it('again while one waits are the same handle, and no event', async () => {
        const first = await fleet.rotate(node.node_id)
        fleet.wait(60_000)
        const second = await fleet.rotate(node.node_id)
        fleet.wait(-60_000)
        expect(second).toMatchObject({ status: 200, body: first.body })
        expect(await fleet.outbox(second)).toEqual([])
        expect(await fleet.audit(second)).toMatchObject({ relation: 'node_keys.rotate', outcome: 'granted' })
        expect(await rotationsOf()).toHaveLength(1)
      })

      it('by many at once are one row, one handle and one event', async () => {
        const answers = await Promise.all([1, 2, 3, 4].map(() => fleet.rotate(node.node_id)))
        expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 202])
        expect(new Set(answers.map(({ body }) => body['rotation_id'])).size).toBe(1)
        const events = await Promise.all(answers.map((answer) => fleet.outbox(answer)))
        expect(events.flat()).toHaveLength(1)
        expect(await rotationsOf()).toHaveLength(1)
      })

      it('change nothing that peers see', async () => {
        const before = await revisions()
        await fleet.rotate(node.node_id)
        expect(await revisions()).toEqual(before)
      })

      it('by whoever may operate the node, and by nobody else', async () => {
        const viewer = await fleet.holder(domain, 'viewer', `domain:${domain}`)
        const denied = { status: 403, body: { code: 'permission_denied' } }
        const asked = [fleet.call(viewer, `POST /v1/nodes/${node.node_id}/keys/rotate`), latest(node.node_id, viewer)]
        for (const answer of [...asked, preview(node.node_id, viewer)]) expect(await answer).toMatchObject(denied)
        expect(await rotationsOf()).toEqual([])
        const operator = await fleet.holder(domain, 'operator', `domain:${domain}`)
        const answer = await fleet.call(operator, `POST /v1/nodes/${node.node_id}/keys/rotate`)
        expect(answer).toMatchObject({ status: 202, body: { requested_by: operator } })
        expect(await fleet.call(node.nsk, `POST /v1/nodes/${node.node_id}/keys/rotate`)).toMatchObject({ status: 401 })
      })

      it('not of a node that there is not', async () => {
        const answers = await Promise.all([fleet.rotate(NOWHERE), latest(NOWHERE), preview(NOWHERE), latest('web-1')])
        expect(answers.map(outcome)).toEqual([
          '403 permission_denied',
          '403 permission_denied',
          '403 permission_denied',
          '400 invalid_node_id',
        ])
      })

      it('not of a node that went while its gate still knew it', async () => {
        await fleet.db.deleteFrom('nodes').where('id', '=', node.node_id).execute()
        const answers = await Promise.all([fleet.rotate(node.node_id), latest(), preview()])
        expect(answers.map(outcome)).toEqual(['404 node_not_found', '404 node_not_found', '404 node_not_found'])
      })

      it('never: there is none to show', async () => {
        expect(outcome(await latest())).toBe('404 rotation_not_found')
      })
    })

    describe('looked ahead at', () => {
      const endpoint = (nodeId: string, staleAt: Date | null) =>
        fleet.db
          .insertInto('node_endpoints')
          .values({
            node_id: nodeId,
            domain_id: domain,
            last_endpoint: '203.0.113.7',
            last_endpoint_port: 51820,
            nat_type: 'cone',
            last_endpoint_reported_at: new Date(fleet.clock.nowMs),
            last_endpoint_stale_at: staleAt,
          })
          .execute()
      const relays = (first: string, second: string) =>
        fleet.db
          .updateTable('domain_peers')
          .set({ relay_node_id: first, second_relay_node_id: second })
          .where('domain_id', '=', domain)
          .execute()

      it('show every edge with its mode by peer, and change nothing', async () => {
        const [fresh, stale] = [await fleet.enrol(domain), await fleet.enrol(domain)]
        await fleet.enrol(await fleet.domain())
        await endpoint(fresh.node_id, null)
        await endpoint(stale.node_id, new Date(fleet.clock.nowMs))
        await relays(peer.node_id, node.node_id)
        const before = await revisions()
        const answer = await preview()
        expect(answer.body).toEqual({
          node_id: node.node_id,
          edges: [
            // The second relay would carry it, and is the node itself.
            { peer_node_id: peer.node_id, mode: 'direct' },
            { peer_node_id: fresh.node_id, mode: 'direct' },
            { peer_node_id: stale.node_id, mode: 'relayed' },
          ],
          edge_count: 3,
          estimated_duration_seconds: 1,
        })
        expect(await fleet.audit(answer)).toMatchObject({ relation: 'node_keys.rotate.preview', outcome: 'granted' })
        expect([await fleet.outbox(answer), await rotationsOf(), await isHinted()]).toEqual([[], [], false])
        expect(await revisions()).toEqual(before)
      })

      it('of a node without peers take a second', async () => {
        const alone = await fleet.enrol(await fleet.domain())
        expect((await preview(alone.node_id)).body).toMatchObject({
          edges: [],
          edge_count: 0,
          estimated_duration_seconds: 1,
        })
      })

      it('take a second for every fifty edges that are begun', async () => {
        const add = async (count: number): Promise<unknown> => {
          for (let at = 0; at < count; at++) await fleet.enrol(domain)
          const { body } = await preview()
          return [body['edge_count'], body['estimated_duration_seconds']]
        }
        expect(await add(49)).toEqual([50, 1])
        expect(await add(1)).toEqual([51, 2])
      })
    })

    describe('completed', () => {
      it('replace both keys in one step, tell the peers, and take the hint back', async () => {
        const asked = await fleet.rotate(node.node_id)
        const before = await fleet.edgeKey(node, peer.node_id)
        const [, revision = 0, whole] = await revisions()
        const public_key = freshPublicKey()
        fleet.wait(5_000)
        const answer = await fleet.complete(node, public_key)
        fleet.wait(-5_000)
        const issued = '2026-03-01T08:00:05.000000000Z'
        expect(answer).toMatchObject({ status: 200 })
        expect(answer.body).toEqual({
          rotation_id: asked.body['rotation_id'],
          node_id: node.node_id,
          completed_at: '2026-03-01T08:00:05.000Z',
          psk_issued_at: issued,
        })
        expect(await fleet.outbox(answer)).toEqual([
          { event: 'peer_key_rotated', ...where(), payload: { node_id: node.node_id, public_key } },
          {
            event: 'peer_psk_assigned',
            ...where(),
            payload: { node_id: node.node_id, psk_issued_at: issued },
          },
        ])
        expect(await fleet.audit(answer)).toEqual({
          relation: 'node_keys.rotation.complete',
          object: `node:${node.node_id}`,
          outcome: 'granted',
          reason: 'granted',
          domainId: domain,
        })
        expect(await shown()).toMatchObject({ public_key, psk_issued_at: issued, rotation_pending: false })
        expect((await latest()).body).toEqual({
          ...asked.body,
          state: 'completed',
          completed_at: '2026-03-01T08:00:05.000Z',
        })
        expect(await isHinted()).toBe(false)
        expect(await revisions()).toEqual([revision + 1, revision + 1, whole])
        const [mine, theirs] = [await fleet.edgeKey(node, peer.node_id), await fleet.edgeKey(peer, node.node_id)]
        expect([mine.epoch, theirs.epoch]).toEqual([`${issued}|${FIRST}`, `${FIRST}|${issued}`])
        expect(mine.keyHex).toBe(theirs.keyHex)
        expect(mine.keyHex).not.toBe(before.keyHex)
      })

      it('issue the preshared key later than the last one though the clock stands or goes back', async () => {
        await fleet.rotate(node.node_id)
        expect((await fleet.complete(node)).body['psk_issued_at']).toBe('2026-03-01T08:00:00.000000001Z')
        await fleet.rotate(node.node_id)
        fleet.wait(-60_000)
        const again = await fleet.complete(node)
        fleet.wait(60_000)
        expect(again.body['psk_issued_at']).toBe('2026-03-01T08:00:00.000000002Z')
      })

      it('are over: another completion is refused, and another request begins another one', async () => {
        const first = await fleet.rotate(node.node_id)
        const key = freshPublicKey()
        expect(outcome(await fleet.complete(node, key))).toBe(200)
        const repeated = await fleet.complete(node, key)
        expect(outcome(repeated)).toBe('409 no_pending_rotation')
        expect(await fleet.audit(repeated)).toMatchObject({ relation: 'node_keys.rotation.complete' })
        const second = await fleet.rotate(node.node_id)
        expect(second.status).toBe(202)
        expect(second.body['rotation_id']).not.toBe(first.body['rotation_id'])
        expect((await latest()).body).toEqual(second.body)
      })

      it('at once by many calls change the keys once', async () => {
        await fleet.rotate(node.node_id)
        const answers = await Promise.all([1, 2, 3, 4].map(() => fleet.complete(node)))
        expect(answers.map(outcome).toSorted()).toEqual([
          200,
          '409 no_pending_rotation',
          '409 no_pending_rotation',
          '409 no_pending_rotation',
        ])
        const events = await Promise.all(answers.map((answer) => fleet.outbox(answer)))
        expect(events.flat()).toHaveLength(2)
      })

      it('by all nodes of a Domain at once leave both ends of every edge with the same key', async () => {
        const nodes = [node, peer, await fleet.enrol(domain), await fleet.enrol(domain), await fleet.enrol(domain)]
        for (const { node_id } of nodes) await fleet.rotate(node_id)
        const [, revision = 0] = await revisions()
        const answers = await Promise.all(nodes.map((one) => fleet.complete(one)))
        expect(answers.map(outcome)).toEqual([200, 200, 200, 200, 200])
        expect((await revisions())[1]).toBe(revision + 5)
        for (const one of nodes.slice(1)) {
          const [mine, theirs] = [await fleet.edgeKey(node, one.node_id), await fleet.edgeKey(one, node.node_id)]
          expect(mine.keyHex).toBe(theirs.keyHex)
          expect(mine.epoch).toBe('2026-03-01T08:00:00.000000001Z|2026-03-01T08:00:00.000000001Z')
        }
      })

      it('leave secret keys alone', async () => {
        await fleet.rotate(node.node_id)
        await fleet.complete(node)
        expect(outcome(await fleet.beat(node))).toBe(200)
      })

      it('unasked change nothing', async () => {
        const before = [await shown(), await revisions()]
        const answer = await fleet.complete(node)
        expect(outcome(answer)).toBe('409 no_pending_rotation')
        expect([await shown(), await revisions()]).toEqual(before)
        expect(await fleet.outbox(answer)).toEqual([])
      })

      it.each([
        ['no key', {}, '400 invalid_public_key'],
        ['a member too many', { public_key: freshPublicKey(), psk: 'mine' }, '400 invalid_body'],
        ['a point of small order', { public_key: LOW_ORDER }, '400 invalid_public_key'],
        ['31 bytes', { public_key: Buffer.alloc(31, 9).toString('base64') }, '400 invalid_public_key'],
        [
          'more than four kibibytes',
          { public_key: freshPublicKey(), x: 'x'.repeat(4_096) },
          '413 request_body_too_large',
        ],
      ])('with %s are refused, and the rotation goes on waiting', async (_name, body, refusal) => {
        await fleet.rotate(node.node_id)
        const before = [await shown(), await revisions()]
        expect(outcome(await fleet.call(node.nsk, 'POST /v1/keys/rotate', body))).toBe(refusal)
        expect([await shown(), await revisions()]).toEqual(before)
        expect((await latest()).body).toMatchObject({ state: 'pending' })
      })

      it('need a key that is new: not the own one, and not that of another node of the Domain', async () => {
        const own = String((await shown())['public_key'])
        const taken = freshPublicKey()
        await fleet.enrol(domain, { public_key: taken })
        await fleet.rotate(node.node_id)
        const before = [await shown(), await revisions()]
        expect(outcome(await fleet.complete(node, own))).toBe('409 public_key_in_use')
        expect(outcome(await fleet.complete(node, taken))).toBe('409 public_key_in_use')
        expect([await shown(), await revisions(), await isHinted()]).toEqual([...before, true])
        const elsewhere = freshPublicKey()
        await fleet.enrol(await fleet.domain(), { public_key: elsewhere })
        expect(outcome(await fleet.complete(node, elsewhere))).toBe(200)
      })

      it('are refused without a working secret key, and no node is named', async () => {
        await fleet.rotate(node.node_id)
        const stranger = { node_id: node.node_id, nsk: `${node.nsk.slice(0, -1)}${node.nsk.endsWith('A') ? 'E' : 'A'}` }
        const unknown = await fleet.complete(stranger)
        await fleet.call(fleet.root, `POST /v1/nodes/${node.node_id}/nsk/revoke`)
        const revoked = await fleet.complete(node)
        const operator = await fleet.call(fleet.root, 'POST /v1/keys/rotate', { public_key: freshPublicKey() })
        expect([unknown, revoked, operator].map(outcome)).toEqual([
          '401 unauthorized',
          '401 nsk_revoked',
          '401 unauthorized',
        ])
        for (const { body } of [unknown, revoked]) expect(JSON.stringify(body)).not.toContain(node.node_id)
        expect((await latest()).body).toMatchObject({ state: 'pending' })
      })
    })

    describe('overtaken', () => {
      /** A completion that was admitted with the key that the node had at first, and comes to its change only now. */
      const admittedBefore = async (): Promise<unknown> => {
        const credential = { id: parseNsk(node.nsk)?.kid }
        const ctx = {
          caller: { id: node.node_id, domainId: domain, credential },
          nowMs: fleet.clock.nowMs,
          change: fleet.change,
          // What else a request offers is not asked for.
        } as unknown as RequestContext
        const { PostKeysRotate } = createMeshKeys(fleet)
        return PostKeysRotate(ctx, { body: { public_key: freshPublicKey() } })
      }
      const refusal = (code: string) => expect.objectContaining({ code })

      it('by the end of the secret key that they were called with change nothing', async () => {
        await fleet.rotate(node.node_id)
        const { body } = await fleet.call(fleet.root, `POST /v1/nodes/${node.node_id}/nsk/rotate`)
        expect(outcome(await fleet.beat({ ...node, nsk: String(body['nsk']) }))).toBe(200)
        const before = { node: await shown(), revisions: await revisions() }
        await expect(admittedBefore()).rejects.toEqual(refusal('unauthorized'))
        await fleet.call(fleet.root, `POST /v1/nodes/${node.node_id}/nsk/revoke`)
        await expect(admittedBefore()).rejects.toEqual(refusal('nsk_revoked'))
        expect({ ...(await shown()), nsk: 0 }).toEqual({ ...before.node, nsk: 0 })
        expect(await revisions()).toEqual(before.revisions)
        expect((await latest()).body).toMatchObject({ state: 'pending' })
      })

      it('by re-enrolment are done: both keys are new', async () => {
        const asked = await fleet.rotate(node.node_id)
        const again = await fleet.token(domain, { node_id: node.node_id })
        fleet.wait(2_000)
        const answer = await fleet.register(again.token)
        fleet.wait(-2_000)
        expect(answer.status).toBe(201)
        expect((await latest()).body).toEqual({
          ...asked.body,
          state: 'completed',
          completed_at: '2026-03-01T08:00:02.000Z',
        })
        const reborn = { ...node, nsk: String(answer.body['nsk']) }
        expect(await isHinted(reborn)).toBe(false)
        expect(outcome(await fleet.complete(reborn))).toBe('409 no_pending_rotation')
        const [mine, theirs] = [await fleet.edgeKey(reborn, peer.node_id), await fleet.edgeKey(peer, node.node_id)]
        expect(mine.keyHex).toBe(theirs.keyHex)
        expect(mine.epoch).toBe(`${String(answer.body['psk_issued_at'])}|${FIRST}`)
      })

      it('by the end of the node are gone with it', async () => {
        await fleet.rotate(node.node_id)
        expect((await fleet.call(fleet.root, `DELETE /v1/nodes/${node.node_id}`)).status).toBe(204)
        expect(await rotationsOf()).toEqual([])
        expect(outcome(await fleet.complete(node))).toBe('401 unauthorized')
      })
    })
  })
})
