import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Datastore } from '../../../src/server/ports/datastore.ts'
import { crashingDatastore } from '../../support/datastores/crashing-datastore.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { startLending, type LendingPlane } from '../../support/server/lending.ts'

/** More than any of the acts takes. */
const STEPS_MAX = 80

/** A datastore whose foreground ends at a step, as a killed process does, once it is armed. */
function armable() {
  let armed: Datastore | undefined
  let plain: Datastore | undefined
  return {
    over<Given extends Datastore>(datastore: Given): Given {
      plain = datastore
      return {
        ...datastore,
        pool: (name) => (name === 'interactive' ? (armed ?? datastore) : datastore).pool(name),
        transaction: (pool, work) =>
          (pool === 'interactive' ? (armed ?? datastore) : datastore).transaction(pool, work),
      }
    },
    async during<T>(steps: number, work: () => Promise<T>): Promise<T> {
      if (plain === undefined) throw new Error('nothing is opened yet')
      armed = crashingDatastore(plain, steps)
      try {
        return await work()
      } finally {
        armed = undefined
      }
    },
  }
}

interface Ground {
  readonly project: { readonly id: string; readonly deployer: string }
  readonly cloudId: string
  readonly cloudAssignment: string
  readonly credentialId: string
  readonly requested: { readonly id: string; readonly approvalId: string }
}

describe.each(STORES)('A process that ends while it lends, on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    const crash = armable()
    let plane: LendingPlane
    beforeAll(async () => {
      plane = await startLending({ ...store, open: async () => crash.over(await store.open()) })
    })
    afterAll(() => plane?.stop())

    async function withRequest(): Promise<Ground> {
      const [project, cloudId] = [await plane.projectWithDeployer(), await plane.cloud()]
      const cloudAssignment = await plane.lendCloud(project, cloudId)
      const credentialId = await plane.credential(cloudId)
      const { body } = await plane.request(project.deployer, project.id, { cloud_credential_id: credentialId })
      const requested = { id: String(body['id']), approvalId: String(body['approval_id']) }
      return { project, cloudId, cloudAssignment, credentialId, requested }
    }
    async function lent(): Promise<Ground> {
      const ground = await withRequest()
      await plane.approve(ground.requested.approvalId)
      return ground
    }
    const reason = 'No longer needed'

    it.each<readonly [string, () => Promise<Ground>, (ground: Ground) => Promise<{ status: number }>]>([
      [
        'requests',
        withRequest,
        async ({ project, cloudId }) => plane.request(project.deployer, project.id, { cloud_id: cloudId }),
      ],
      ['approves', withRequest, ({ requested }) => plane.approve(requested.approvalId)],
      ['rejects', withRequest, ({ requested }) => plane.reject(requested.approvalId)],
      ['revokes', lent, ({ requested }) => plane.revoke(plane.root, 'credential', requested.id)],
      [
        'cascades',
        withRequest,
        ({ cloudAssignment }) => plane.revoke(plane.root, 'cloud', cloudAssignment, { reason, cascade: true }),
      ],
      [
        'revokes the credential',
        lent,
        ({ credentialId }) => plane.call(plane.root, `POST /v1/cloud-credentials/${credentialId}/revoke`, { reason }),
      ],
    ])(
      'when it %s leaves no contradiction, and no approval is lost',
      { timeout: 240_000 },
      async (what, arrange, act) => {
        const statuses: number[] = []
        for (let steps = 0; statuses.at(-1) === undefined || statuses.at(-1) === 500; steps++) {
          expect(steps).toBeLessThan(STEPS_MAX)
          const ground = await arrange()
          // What is requested is the newest credential: one that nobody has asked for yet.
          if (what === 'requests') await plane.credential(ground.cloudId)
          const { status } = await crash.during(steps, () => act(ground))
          statuses.push(status)
          expect(await plane.contradictions(), `after step ${steps}`).toEqual([])
        }
        expect(statuses.length, 'the act was ended at least once').toBeGreaterThan(5)
        expect([200, 201]).toContain(statuses.at(-1))
      },
    )
  })
})
