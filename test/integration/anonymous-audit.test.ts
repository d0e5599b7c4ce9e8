import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ControlPlane } from '../support/server/control-plane.ts'
import { startDevicePlane, type DevicePlane } from '../support/sign-in/device-plane.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startWorkloads, type Workloads } from '../support/sign-in/workloads.ts'

const CALLS = 13

/** Rows of one relation in their order: correlation id, reason and count. */
function rowsOf({ audited }: ControlPlane, relation: string): readonly (readonly unknown[])[] {
  return audited
    .filter((row) => row.relation === relation)
    .map(({ correlationId, outcome, reason, context }) => [correlationId, outcome, reason, context['count']])
}

/** Ten rows under the ids of their calls, and one with the count of the rest. */
function expected(ids: readonly string[], reason: string): readonly (readonly unknown[])[] {
  return ids.slice(0, 11).map((id, at) => [id, 'invariant_violation', reason, at === 10 ? ids.length - 10 : undefined])
}

describe.each(STORES)('failures of callers without a name on the $name store', (store) => {
  describe.skipIf(store.missing)('of a device that polls', () => {
    let plane: DevicePlane
    beforeAll(async () => {
      plane = await startDevicePlane(store)
    })
    afterAll(() => plane.stop())

    it('have an audit row each, and those of another kind beside them', async () => {
      const { device_code: code } = await plane.begin()
      const pending: string[] = []
      for (let call = 0; call < CALLS; call++) {
        const { headers, body } = await plane.poll(code)
        expect(body['code']).toBe('authorization_pending')
        pending.push(headers.get('x-correlation-id') ?? '')
        plane.clock.nowMs += 5_000
      }
      const unknown = (await plane.poll('nonsense')).headers.get('x-correlation-id')
      const relation = 'auth.device_code.poll'
      expect(rowsOf(plane, relation)).toEqual([
        ...expected(pending, 'authorization_pending').slice(0, 10),
        [unknown, 'invariant_violation', 'invalid_grant', undefined],
      ])
      await plane.stop()
      expect(rowsOf(plane, relation).at(-1)).toEqual(expected(pending, 'authorization_pending').at(-1))
    })
  })

  describe.skipIf(store.missing)('of a workload that asks for a token', () => {
    let plane: Workloads
    beforeAll(async () => {
      plane = await startWorkloads(store)
    })
    afterAll(() => plane.stop())

    it('have an audit row each', async () => {
      const ids: string[] = []
      for (let call = 0; call < CALLS; call++) {
        const { status, headers } = await plane.clientCredentials('nonsense')
        expect(status).toBe(400)
        ids.push(headers.get('x-correlation-id') ?? '')
      }
      await plane.stop()
      expect(rowsOf(plane, 'auth.service_token.issue')).toEqual(expected(ids, 'invalid_client'))
    })
  })
})
