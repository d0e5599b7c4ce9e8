import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseNsk } from '../../../src/shared/credential-formats.ts'
import { edgeKeyInput } from '../../../src/shared/mesh/edge-key.ts'
import { startKeyedFleet, type Keyed, type KeyedFleet } from '../../support/fleet/keyed-fleet.ts'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

describe.each(STORES)('Keys of edges on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: KeyedFleet
    let domain: string
    let [one, other]: [Enrolled, Enrolled] = [] as never
    beforeAll(async () => {
      fleet = await startKeyedFleet(store)
    })
    beforeEach(async () => {
      domain = await fleet.domain()
      one = await fleet.enrol(domain)
      other = await fleet.enrol(domain)
    })
    afterAll(() => fleet?.stop())

    const pskOf = async (nodeId: string): Promise<Uint8Array> => {
      const row = await fleet.db
        .selectFrom('nodes')
        .select('psk_sealed')
        .where('id', '=', nodeId)
        .executeTakeFirstOrThrow()
      return fleet.sealing.open({ table: 'nodes', column: 'psk_sealed', rowId: nodeId }, row.psk_sealed)
    }
    const rotatedNsk = async ({ node_id }: Keyed): Promise<Keyed> => {
      const { body } = await fleet.call(fleet.root, `POST /v1/nodes/${node_id}/nsk/rotate`)
      return { node_id, nsk: String(body['nsk']) }
    }

    it('are answered as 60 bytes that nobody may keep, with key id and epoch', async () => {
      const answer = await fleet.fetchPsk(one, other.node_id)
      expect(answer.status).toBe(200)
      expect(answer.bytes.length).toBe(60)
      const told = ['content-type', 'content-length', 'cache-control', 'x-service-psk-kid', 'x-service-psk-epoch']
      expect(told.map((name) => answer.headers.get(name))).toEqual([
        'application/octet-stream',
        '60',
        'no-store',
        parseNsk(one.nsk)?.kid,
        '2026-03-01T08:00:00.000000000Z|2026-03-01T08:00:00.000000000Z',
      ])
    })

    it('are the same at both ends: what HKDF makes of both node keys', async () => {
      const mine = await fleet.edgeKey(one, other.node_id)
      const theirs = await fleet.edgeKey(other, one.node_id)
      const { ikm, info } = edgeKeyInput(
        { nodeId: one.node_id, psk: await pskOf(one.node_id) },
        { nodeId: other.node_id, psk: await pskOf(other.node_id) },
      )
      const expected = Buffer.from(hkdf(sha256, ikm, undefined, Buffer.from(info), 32)).toString('hex')
      expect([mine.keyHex, theirs.keyHex]).toEqual([expected, expected])
    })

    it('are others for every other edge', async () => {
      const third = await fleet.enrol(domain)
      const keys = await Promise.all([
        fleet.edgeKey(one, other.node_id),
        fleet.edgeKey(one, third.node_id),
        fleet.edgeKey(other, third.node_id),
      ])
      expect(new Set(keys.map(({ keyHex }) => keyHex)).size).toBe(3)
    })

    it('are sealed with a fresh nonce each time', async () => {
      const answers = await Promise.all([1, 2, 3, 4].map(() => fleet.fetchPsk(one, other.node_id)))
      const nonces = answers.map(({ bytes }) => Buffer.from(bytes.subarray(0, 12)).toString('hex'))
      expect(new Set(nonces).size).toBe(4)
    })

    it('are sealed under the secret key that called, the replaced one during its time of grace too', async () => {
      const next = await rotatedNsk(one)
      const [before, after] = [await fleet.edgeKey(one, other.node_id), await fleet.edgeKey(next, other.node_id)]
      expect([before.kid, after.kid]).toEqual([parseNsk(one.nsk)?.kid, parseNsk(next.nsk)?.kid])
      expect(after.keyHex).toBe(before.keyHex)
      expect(await fleet.fetchPsk(one, other.node_id)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
    })

    it('have an epoch whose first half is of the caller', async () => {
      fleet.wait(1_000)
      const late = await fleet.enrol(domain)
      fleet.wait(-1_000)
      const [early, later] = ['2026-03-01T08:00:00.000000000Z', '2026-03-01T08:00:01.000000000Z']
      expect((await fleet.edgeKey(one, late.node_id)).epoch).toBe(`${early}|${later}`)
      expect((await fleet.edgeKey(late, one.node_id)).epoch).toBe(`${later}|${early}`)
    })

    it('are audited when given', async () => {
      expect(await fleet.audit(await fleet.fetchPsk(one, other.node_id))).toEqual({
        relation: 'fetch_edge_psk',
        object: `node:${one.node_id}`,
        outcome: 'granted',
        reason: 'granted',
        domainId: domain,
      })
    })

    it.each([
      ['of another node', () => fleet.fetchPsk(other, other.node_id, one.node_id), 403, 'node_id_mismatch'],
      ['with itself', () => fleet.fetchPsk(one, one.node_id), 400, 'same_peer'],
      ['with itself in capitals', () => fleet.fetchPsk(one, one.node_id.toUpperCase()), 400, 'same_peer'],
      ['with a node that there is not', () => fleet.fetchPsk(one, NOWHERE), 404, 'peer_not_found'],
      ['with what is no id', () => fleet.fetchPsk(one, 'web-1'), 400, 'invalid_node_id'],
      ['of what is no id', () => fleet.fetchPsk(one, other.node_id, 'web-1'), 400, 'invalid_node_id'],
    ])('are refused for an edge %s', async (_name, ask, status, code) => {
      const answer = await ask()
      expect(answer).toMatchObject({ status, body: { code } })
      expect(answer.headers.get('x-service-psk-kid')).toBeNull()
    })

    it('are audited when refused', async () => {
      const outcomes = await Promise.all(
        [
          fleet.fetchPsk(other, other.node_id, one.node_id),
          fleet.fetchPsk(one, one.node_id),
          fleet.fetchPsk(one, NOWHERE),
        ].map(async (answer) => fleet.audit(await answer)),
      )
      expect(outcomes).toMatchObject([
        { relation: 'fetch_edge_psk', outcome: 'permission_denied', reason: 'node_id_mismatch' },
        { relation: 'fetch_edge_psk', outcome: 'invariant_violation', reason: 'same_peer' },
        { relation: 'fetch_edge_psk', outcome: 'not_found', reason: 'peer_not_found' },
      ])
    })

    it('do not reach into another Domain, nor tell whether the node is there', async () => {
      const foreign = await fleet.enrol(await fleet.domain())
      const [there, nowhere] = [await fleet.fetchPsk(one, foreign.node_id), await fleet.fetchPsk(one, NOWHERE)]
      const told = ({ status, body }: typeof there) => ({ status, ...body, instance: 0, correlation_id: 0 })
      expect(there.status).toBe(404)
      expect(told(there)).toEqual(told(nowhere))
    })

    it('are refused to a node that is gone, and for one that is', async () => {
      await fleet.call(fleet.root, `DELETE /v1/nodes/${other.node_id}`)
      expect(await fleet.fetchPsk(one, other.node_id)).toMatchObject({ status: 404, body: { code: 'peer_not_found' } })
      expect(await fleet.fetchPsk(other, one.node_id)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
    })

    it('are refused to a revoked key, and to operators', async () => {
      await fleet.call(fleet.root, `POST /v1/nodes/${one.node_id}/nsk/revoke`)
      expect(await fleet.fetchPsk(one, other.node_id)).toMatchObject({ status: 401, body: { code: 'nsk_revoked' } })
      const operator = { ...other, nsk: fleet.root }
      expect(await fleet.fetchPsk(operator, one.node_id)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
    })

    it('leave no trace of a key in audit, outbox or change feed', async () => {
      const { keyHex } = await fleet.edgeKey(one, other.node_id)
      await fleet.rotate(one.node_id)
      await fleet.complete(one)
      const after = await fleet.edgeKey(one, other.node_id)
      const secrets = [
        ...[keyHex, after.keyHex].map((hex) => Buffer.from(hex, 'hex')),
        ...[one, other].map(({ nsk }) => Buffer.from(parseNsk(nsk)?.key ?? [])),
        Buffer.from(await pskOf(one.node_id)),
        Buffer.from(await pskOf(other.node_id)),
      ]
      const tables = ['audit', 'outbox', 'authz_changes', 'nodes', 'node_secret_keys', 'key_rotations'] as const
      const rows = await Promise.all(tables.map((table) => fleet.db.selectFrom(table).selectAll().execute()))
      const asText = (row: object): string =>
        JSON.stringify(
          Object.entries(row).map(([name, value]) => [name, Buffer.isBuffer(value) ? value.toString('hex') : value]),
        )
      const kept = [...rows.flat().map(asText), JSON.stringify(fleet.audited)].join('\n')
      expect(kept).toContain(one.node_id)
      const spellings = secrets.flatMap((bytes) => [
        bytes.toString('hex'),
        bytes.toString('base64'),
        bytes.toString('base64url'),
      ])
      expect(spellings.filter((spelling) => kept.includes(spelling))).toEqual([])
    })
  })
})
