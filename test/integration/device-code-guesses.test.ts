import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mintUserCode, showUserCode } from '../../src/server/slices/device-flow/user-code.ts'
import { startDevicePlane, type DevicePlane } from '../support/sign-in/device-plane.ts'
import { depth } from '../support/run/depth.ts'
import { STORES } from '../support/datastores/stores.ts'

const MINUTE = 60_000
const AT_ONCE = 50

describe.each(STORES)('guesses of user codes on the $name datastore', (store) => {
  describe.skipIf(store.missing)('', () => {
    let plane: DevicePlane
    beforeAll(async () => {
      plane = await startDevicePlane(store)
    })
    afterAll(() => plane?.stop())

    it(
      'come to nothing, however many: five a minute are looked up, the others are refused before, and nothing is approved',
      async () => {
        const waiting = await Promise.all(Array.from({ length: 20 }, () => plane.begin()))
        const { id, session } = await plane.person()
        const guesses = depth({ ci: 300, deep: 100_000 })
        const answers = new Map<string, number>()
        for (let made = 0; made < guesses; made += AT_ONCE) {
          const verdicts = await Promise.all(
            Array.from({ length: AT_ONCE }, () => plane.decide('approve', showUserCode(mintUserCode()), session)),
          )
          for (const { status, body } of verdicts) {
            const answer = `${status} ${String(body['code'])}`
            answers.set(answer, (answers.get(answer) ?? 0) + 1)
          }
        }
        expect(Object.fromEntries(answers)).toEqual({
          '404 device_session_not_found': 5,
          '429 rate_limited': guesses - 5,
        })
        const audited = plane.audited.filter(({ relation }) => relation === 'auth.device_code.approve')
        const wrong = audited.filter(({ outcome }) => outcome === 'not_found')
        expect(wrong.map(({ subject }) => subject)).toEqual(Array.from({ length: 5 }, () => `user:${id}`))
        // Those beyond the limit are one row a minute, lest guessing fill the log.
        expect(audited.length).toBeLessThan(20)
        const states = await plane.db.selectFrom('device_sign_ins').select('state').execute()
        expect(states).toEqual(waiting.map(() => ({ state: 'pending' })))
        expect(await plane.db.selectFrom('api_tokens').select('id').where('owner_id', '=', id).execute()).toEqual([])
        plane.clock.nowMs += MINUTE
        expect((await plane.decide('approve', waiting[0]?.user_code ?? '', session)).status).toBe(200)
      },
      depth({ ci: 60_000, deep: 1_800_000 }),
    )
  })
})
