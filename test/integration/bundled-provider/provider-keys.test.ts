import pino from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBundledProvider } from '../../../src/server/adapters/bundled-provider/bundled-provider.ts'
import { createKeyRotation } from '../../../src/server/adapters/bundled-provider/key-rotation.ts'
import { createOwnIssuer } from '../../../src/server/adapters/bundled-provider/own-issuer.ts'
import { createLocalSignIn } from '../../../src/server/slices/local-accounts/sign-in.ts'
import { START_MS } from '../../support/server/test-backend.ts'
import { unfenced } from '../../support/datastores/leading.ts'
import { hashing } from '../../support/server/hashing.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { startTenancy, type Tenancy } from '../../support/server/tenancy.ts'

const HOUR = 3_600_000
const DAYS_90 = 90 * 24 * HOUR
const BASE_URL = 'https://ctl.example'

describe.each(STORES)('Signing keys of the bundled provider on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let tenancy: Tenancy
    beforeAll(async () => {
      tenancy = await startTenancy(store)
    })
    afterAll(() => tenancy.stop())

    /** A replica's provider, asked as the relying party asks it. */
    function replica() {
      const sessions = { endAllOf: async () => 0 }
      const provider = createBundledProvider({
        ...tenancy,
        baseUrl: BASE_URL,
        signIn: createLocalSignIn({ ...tenancy, sessions, hashing, onRefused: () => undefined }),
        log: pino({ level: 'silent' }),
        clientAddress: () => '192.0.2.1',
        takeAddress: () => 0,
      })
      const issuer = createOwnIssuer(provider, BASE_URL)
      return async (): Promise<readonly { kid: string; alg: string; d?: string }[]> => {
        const answer = await issuer.fetch(`${BASE_URL}/idp/jwks`)
        return ((await answer.json()) as { keys: { kid: string; alg: string }[] }).keys
      }
    }
    const kidsOf = (keys: readonly { kid: string; alg: string }[], alg: string) =>
      keys.filter((key) => key.alg === alg).map(({ kid }) => kid)
    const rotate = () => createKeyRotation(tenancy).run(unfenced(tenancy))

    it('are made by the first use alone', async () => {
      await rotate()
      expect(await tenancy.db.selectFrom('provider_keys').select('kid').execute()).toEqual([])
    })

    it('follow each other with an overlap, on every replica and without a restart', async () => {
      const [one, other] = [replica(), replica()]
      const [first] = kidsOf(await one(), 'ES256')
      expect(kidsOf(await other(), 'ES256')).toEqual([first])
      await rotate()
      tenancy.clock.nowMs = START_MS + DAYS_90
      await Promise.all([rotate(), rotate()])
      const published = kidsOf(await one(), 'ES256')
      expect(published).toEqual([first, expect.any(String)])
      const [, second] = published
      expect(kidsOf(await other(), 'ES256')).toEqual([first, second])

      tenancy.clock.nowMs = START_MS + DAYS_90 + HOUR
      expect([kidsOf(await one(), 'ES256'), kidsOf(await other(), 'ES256')]).toEqual([
        [second, first],
        [second, first],
      ])
      await rotate()
      tenancy.clock.nowMs = START_MS + DAYS_90 + 3 * HOUR + 60_000
      await rotate()
      const last = await one()
      expect([kidsOf(last, 'ES256'), kidsOf(last, 'RS256').length]).toEqual([[second], 1])
      expect(last.map(({ d }) => d)).toEqual([undefined, undefined])
      expect(await tenancy.db.selectFrom('provider_keys').select('kid').execute()).toHaveLength(2)
      tenancy.clock.nowMs = START_MS
    })
  })
})
