import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { EMBEDDED, STORES, type OpenedStore } from '../support/datastores/stores.ts'
import { startFleet, type Enrolled, type Fleet } from '../support/fleet/fleet.ts'
import { startTransitWorld, type TransitWorld } from '../support/openbao/transit-world.ts'
import { frozenClock } from '../support/server/test-backend.ts'

describe.each(STORES)('Sessions signed by Transit, on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let keys: OpenedStore
    let transit: TransitWorld
    let fleet: Fleet
    let project: string
    let node: Enrolled

    beforeAll(async () => {
      keys = await EMBEDDED.open()
      transit = await startTransitWorld(() => keys, frozenClock())
      const signer = await transit.open()
      fleet = await startFleet(store, { surfaces: ['mediatedSessions'], ports: { signer } })
      const domain = await fleet.domain()
      project = await fleet.project(domain)
      node = await fleet.enrol(domain)
    })
    afterEach(() => {
      transit.bao.moods.engineAnswers = undefined
      transit.bao.moods.isSilent = false
      transit.bao.transit.faults.signsWrongly = false
    })
    afterAll(async () => {
      await fleet.stop()
      await transit.stop()
      await keys.close()
    })

    const issue = () =>
      fleet.call(fleet.root, `POST /v1/projects/${project}/sessions`, {
        kind: 'ssh',
        target: 'deploy',
        node_id: node.node_id,
      })
    const stored = async () => ({
      sessions: await fleet.db.selectFrom('mediated_sessions').select('id').execute(),
      events: await fleet.db.selectFrom('outbox').select('id').where('event', '=', 'session_issued').execute(),
    })

    it.each([
      ['answers 403', () => void (transit.bao.moods.engineAnswers = { status: 403, body: { errors: ['denied'] } })],
      ['does not answer', () => void (transit.bao.moods.isSilent = true)],
      ['gives a wrong signature', () => void (transit.bao.transit.faults.signsWrongly = true)],
    ])('are refused before anything is stored where the engine %s, and a retry is safe', async (_what, spoil) => {
      const before = await stored()
      spoil()
      const refused = await issue()
      expect(refused).toMatchObject({ status: 503, body: { code: 'signing_unavailable' } })
      expect(JSON.stringify(refused.body)).not.toContain(transit.bao.url)
      expect(await stored()).toEqual(before)
      transit.bao.moods.engineAnswers = undefined
      transit.bao.moods.isSilent = false
      transit.bao.transit.faults.signsWrongly = false
      expect((await issue()).status).toBe(201)
      expect((await stored()).sessions).toHaveLength(before.sessions.length + 1)
    })

    it('rotations are refused as well, and keys are published on', async () => {
      transit.bao.moods.engineAnswers = { status: 403, body: { errors: ['denied'] } }
      const rotated = await fleet.call(fleet.root, 'POST /v1/signing-keys/rotate')
      expect(rotated).toMatchObject({ status: 503, body: { code: 'signing_unavailable' } })
      const listed = await fleet.call('', 'GET /v1/signing-keys')
      expect([listed.status, (listed.body['keys'] as unknown[]).length]).toEqual([200, 1])
    })
  })
})
