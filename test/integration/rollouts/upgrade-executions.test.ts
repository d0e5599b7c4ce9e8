import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import { startRolloutFleet, type RolloutFleet } from '../../support/fleet/rollout-fleet.ts'
import { startTaskedFleet } from '../../support/fleet/tasked-fleet.ts'
import { addRelease } from '../../support/releases/add-release.ts'
import { STORES } from '../../support/datastores/stores.ts'

describe.each(STORES)('An execution of upgrade_agent on the $name store', (store) => {
  describe.skipIf(store.missing)('where releases can be verified', () => {
    let fleet: RolloutFleet
    let node: Enrolled
    beforeAll(async () => {
      fleet = await startRolloutFleet(store)
      await addRelease(fleet.db, '3.0.0', { supportStatus: 'withdrawn' })
      await addRelease(fleet.db, '3.0.1', { unverified: 'There is no attestation.' })
    })
    beforeEach(async () => {
      node = await fleet.enrol(await fleet.domain())
    })
    afterAll(() => fleet?.stop())

    const ask = (parameters?: Readonly<Record<string, unknown>>, action = 'upgrade_agent') =>
      fleet.call(fleet.root, `POST /v1/nodes/${node.node_id}/executions`, { action, type: 'builtin', parameters })

    it.each([
      ['3.0.0', 'the release was withdrawn'],
      ['3.0.1', 'the release is not verified'],
      ['9.9.9', 'no such release is known'],
      ['', 'no such release is known'],
      [2, 'no such release is known'],
      [null, 'no such release is known'],
    ])('is refused to the version %j, and nothing is changed: %s', async (version, reason) => {
      const answer = await ask({ version })
      expect(answer).toMatchObject({ status: 422, body: { code: 'release_not_eligible', reason } })
      expect(await fleet.outbox(answer)).toEqual([])
      const executions = fleet.db.selectFrom('executions').select('id').where('node_id', '=', node.node_id)
      expect(await executions.execute()).toEqual([])
    })

    it('is refused where the release has nothing for the architecture of the node', async () => {
      await fleet.declare(node, 'riscv64')
      expect(await ask({ version: '2.0.0' })).toMatchObject({
        status: 422,
        body: { reason: 'the release has nothing for the architecture riscv64' },
      })
    })

    it('is taken to an eligible version, and without one', async () => {
      await fleet.declare(node, 'aarch64')
      expect((await ask({ version: '2.0.0' })).status).toBe(201)
      expect((await ask({ channel: 'beta' })).status).toBe(201)
      expect((await ask()).status).toBe(201)
    })

    it('alone is checked', async () => {
      expect((await ask({ version: '3.0.0' }, 'restart_agent')).status).toBe(201)
    })
  })

  describe.skipIf(store.missing)('where no release can be verified', () => {
    it('is not checked', async () => {
      const fleet = await startTaskedFleet(store)
      try {
        const node = await fleet.enrol(await fleet.domain())
        const asked = { action: 'upgrade_agent', parameters: { version: '9.9.9' } }
        expect((await fleet.ask(node, asked)).status).toBe(201)
      } finally {
        await fleet.stop()
      }
    })
  })
})
