import { createPublicKey, verify } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../support/server/control-plane.ts'
import { startFleet, type Fleet } from '../support/fleet/fleet.ts'
import { STORES } from '../support/datastores/stores.ts'

const TEN_MINUTES_MS = 600_000
const MESSAGE = Buffer.from('an envelope')

describe.each(STORES)('Signing keys on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: Fleet
    beforeAll(async () => {
      fleet = await startFleet(store)
    })
    afterAll(() => fleet.stop())

    const list = (): Promise<Answer> => fleet.call('', 'GET /v1/signing-keys')
    const rotate = (as = fleet.root): Promise<Answer> => fleet.call(as, 'POST /v1/signing-keys/rotate')
    const keysOf = ({ body }: Answer) => body['keys'] as readonly Readonly<Record<string, unknown>>[]

    it('shows the key to anybody as a JWK Set that may be kept for five minutes', async () => {
      const answer = await list()
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'public, max-age=300'])
      const { kid, signature } = await fleet.signer.sign(MESSAGE)
      expect(keysOf(answer)).toEqual([
        {
          kty: 'OKP',
          crv: 'Ed25519',
          x: expect.stringMatching(/^[\w-]{43}$/),
          kid,
          alg: 'EdDSA',
          use: 'sig',
          nbf: 1_772_352_000,
          state: 'current',
          signs_from: '2026-03-01T08:00:00.000Z',
          not_before: '2026-03-01T08:00:00.000Z',
          not_after: null,
        },
      ])
      const [jwk = {}] = keysOf(answer)
      expect(verify(null, MESSAGE, createPublicKey({ key: jwk, format: 'jwk' }), signature)).toBe(true)
    })

    it('lets only who manages the platform rotate them', async () => {
      const domain = await fleet.domain()
      const admin = await fleet.holder(domain, 'admin', `domain:${domain}`)
      const answer = await rotate(admin)
      expect(answer.body).toMatchObject({
        code: 'permission_denied',
        missing_relation: { object: 'platform:main', relation: 'manage' },
      })
      expect(keysOf(await list())).toHaveLength(1)
    })

    it('publishes the next key at once, announces and audits it, and answers a second call with the same rotation', async () => {
      const { kid: before } = await fleet.signer.sign(MESSAGE)
      const first = await rotate()
      const kid = String(first.body['kid'])
      expect(first.body).toEqual({
        kid,
        signs_from: '2026-03-01T08:10:00.000Z',
        previous_kid: before,
        verifies_until: '2026-03-09T08:10:00.000Z',
      })
      expect(await fleet.outbox(first)).toEqual([
        {
          event: 'SigningKeysRotated',
          domain_id: null,
          aggregate: 'platform:main',
          payload: { kid, previous_kid: before },
        },
      ])
      expect(await fleet.audit(first)).toEqual({
        relation: 'signing_keys.rotate',
        object: 'platform:main',
        outcome: 'granted',
        reason: 'granted',
        domainId: null,
      })
      const again = await rotate()
      expect([again.status, again.body]).toEqual([200, first.body])
      expect(await fleet.outbox(again)).toEqual([])
      expect(keysOf(await list())).toMatchObject([
        { kid: before, state: 'current', exp: 1_773_043_800 },
        { kid, state: 'next', nbf: 1_772_352_000 },
      ])
    })

    it('hands a node the same keys at its enrolment, the next one included', async () => {
      const domain = await fleet.domain()
      const { token } = await fleet.token(domain)
      const enrolled = await fleet.register(token)
      const keys = keysOf(await list())
      expect(keys).toHaveLength(2)
      expect(enrolled.body['signing_keys']).toEqual(keys)
    })

    it('goes on to a third key once the second one signs', async () => {
      const [, next] = keysOf(await list())
      fleet.wait(TEN_MINUTES_MS)
      expect((await fleet.signer.sign(MESSAGE)).kid).toBe(next?.['kid'])
      expect((await rotate()).body).toMatchObject({ previous_kid: next?.['kid'] })
      expect(keysOf(await list()).map(({ state }) => state)).toEqual(['current', 'next', 'retired'])
    })
  })
})
