import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDevicePlane, type DeviceCodes, type DevicePlane } from '../support/sign-in/device-plane.ts'
import { depth } from '../support/run/depth.ts'
import { STORES } from '../support/datastores/stores.ts'

/** One thing that somebody does; `at` chooses among the devices that have begun. */
type Step =
  | { readonly does: 'begin' }
  | { readonly does: 'wait'; readonly seconds: number }
  | { readonly does: 'poll' | 'approve' | 'deny' | 'approve from elsewhere'; readonly at: number }

/** What is known of a device, by RFC 8628 and nothing else. */
interface Model {
  readonly codes: DeviceCodes
  state: 'pending' | 'approved' | 'denied' | 'redeemed'
  interval: number
  polledMs: number | undefined
  readonly endMs: number
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.constant({ does: 'begin' } as const) },
    {
      weight: 4,
      arbitrary: fc.record({
        does: fc.constant('wait' as const),
        seconds: fc.constantFrom(1, 4, 5, 6, 10, 15, 299, 301),
      }),
    },
    {
      weight: 8,
      arbitrary: fc.record({
        does: fc.constantFrom('poll', 'poll', 'poll', 'approve', 'deny', 'approve from elsewhere'),
        at: fc.nat(3),
      }) as fc.Arbitrary<Step>,
    },
  ),
  { minLength: 4, maxLength: 24 },
)

/** What a device is told that asks now; the model goes on to what is then. */
function told(model: Model, nowMs: number): string {
  if (model.state === 'redeemed') return 'invalid_grant'
  if (model.state === 'denied') return 'access_denied'
  if (nowMs >= model.endMs) return 'expired_token'
  if (model.state === 'approved') {
    model.state = 'redeemed'
    return 'token'
  }
  const isEarly = model.polledMs !== undefined && nowMs - model.polledMs < model.interval * 1000
  model.polledMs = nowMs
  if (isEarly) model.interval += 5
  return isEarly ? 'slow_down' : 'authorization_pending'
}

/** How a decision is answered. */
function decided(model: Model, nowMs: number, verdict: 'approved' | 'denied'): number {
  if (model.state !== 'pending' || nowMs >= model.endMs) return 404
  model.state = verdict
  return 200
}

describe.each(STORES)('the states of a device sign-in on the $name datastore', (store) => {
  describe.skipIf(store.missing)('', () => {
    let plane: DevicePlane
    let person: string
    let stranger: string
    beforeAll(async () => {
      plane = await startDevicePlane(store)
      person = (await plane.person()).id
      stranger = (await plane.person(await plane.domain())).id
    })
    afterAll(() => plane?.stop())

    /** Does a step, and answers what came of it beside what the model says. */
    async function take(step: Step, devices: Model[]): Promise<readonly [unknown, unknown]> {
      const { clock } = plane
      if (step.does === 'wait') {
        clock.nowMs += step.seconds * 1000
        return [0, 0]
      }
      if (step.does === 'begin') {
        const codes = await plane.begin()
        devices.push({ codes, state: 'pending', interval: 5, polledMs: undefined, endMs: clock.nowMs + 600_000 })
        return [codes.interval, 5]
      }
      const model = devices[step.at % Math.max(1, devices.length)]
      if (model === undefined) return [0, 0]
      if (step.does === 'poll') {
        const { status, body } = await plane.poll(model.codes.device_code)
        return [status === 200 ? 'token' : body['error'], told(model, clock.nowMs)]
      }
      if (step.does === 'approve from elsewhere') {
        const { status } = await plane.decide('approve', model.codes.user_code, await plane.browser.open(stranger))
        return [status, 404]
      }
      const { status } = await plane.decide(step.does, model.codes.user_code, await plane.browser.open(person))
      return [status, decided(model, clock.nowMs, step.does === 'approve' ? 'approved' : 'denied')]
    }

    it('are those of RFC 8628, whatever anybody does in whatever order', async () => {
      const seen = new Set<unknown>()
      const walk = fc.asyncProperty(steps, async (taken) => {
        await plane.db.deleteFrom('device_sign_ins').execute()
        const devices: Model[] = []
        for (const step of [{ does: 'begin' } as const, ...taken]) {
          const [actual, expected] = await take(step, devices)
          expect(actual, JSON.stringify({ step, taken })).toBe(expected)
          seen.add(actual)
        }
        const tokens = await plane.db.selectFrom('api_tokens').select('id').where('owner_id', '=', person).execute()
        const redeemed = devices.filter(({ state }) => state === 'redeemed').length
        expect(tokens).toHaveLength(redeemed)
        await plane.db.deleteFrom('api_tokens').where('owner_id', '=', person).execute()
      })
      await fc.assert(walk, { numRuns: depth({ ci: 60, deep: 600 }), ...depth({ ci: { seed: 8628 }, deep: {} }) })
      const everything = [
        'token',
        'authorization_pending',
        'slow_down',
        'access_denied',
        'expired_token',
        'invalid_grant',
        200,
        404,
      ]
      expect([...seen]).toEqual(expect.arrayContaining(everything))
    })
  })
})
