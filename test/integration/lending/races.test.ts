import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pausingDatastore } from '../../support/datastores/pausing-datastore.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { meet, places, statementsOf } from '../../support/run/meeting.ts'
import { startLending, type LendingPlane } from '../../support/server/lending.ts'

const REQUESTS = 20

/** A Project and a Cloud, with what is asked for and lent by now. */
interface Ground {
  readonly project: { readonly id: string; readonly deployer: string }
  readonly cloudId: string
  readonly cloudAssignment: string
  readonly credentialId: string
  /** The latest request and its approval. */
  readonly requested: { readonly id: string; readonly approvalId: string }
}

/** What a person does, with the status that answers it. */
type Act = (ground: Ground) => Promise<number>

type Outcomes = readonly (readonly [number, number])[]

describe.each(STORES)('Lending on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    const pausing = pausingDatastore()
    let plane: LendingPlane
    beforeAll(async () => {
      plane = await startLending({ ...store, open: async () => pausing.over(await store.open()) })
    })
    afterAll(() => plane?.stop())

    async function usable(): Promise<Ground> {
      const [project, cloudId] = [await plane.projectWithDeployer(), await plane.cloud()]
      const cloudAssignment = await plane.lendCloud(project, cloudId)
      const credentialId = await plane.credential(cloudId)
      return { project, cloudId, cloudAssignment, credentialId, requested: { id: '', approvalId: '' } }
    }

    async function withRequest(): Promise<Ground> {
      const ground = await usable()
      const { project, credentialId } = ground
      const { body } = await plane.request(project.deployer, project.id, { cloud_credential_id: credentialId })
      return { ...ground, requested: { id: String(body['id']), approvalId: String(body['approval_id']) } }
    }

    async function lent(): Promise<Ground> {
      const ground = await withRequest()
      await plane.approve(ground.requested.approvalId)
      return ground
    }

    /** A Project, and a Cloud without credentials. */
    async function bare(): Promise<Ground> {
      const [project, cloudId] = [await plane.projectWithDeployer(), await plane.cloud()]
      return { project, cloudId, cloudAssignment: '', credentialId: '', requested: { id: '', approvalId: '' } }
    }

    async function withCloudRequest(): Promise<Ground> {
      const ground = await bare()
      const { body } = await plane.requestCloud(ground.project.deployer, ground.project.id, ground.cloudId)
      return { ...ground, requested: { id: String(body['id']), approvalId: String(body['approval_id']) } }
    }

    const statusOf = async (answer: Promise<{ status: number }>) => (await answer).status
    const byRoot = (operation: string, body?: object) => statusOf(plane.call(plane.root, operation, body))
    const reason = 'No longer needed'

    const request: Act = ({ project, credentialId }) =>
      statusOf(plane.request(project.deployer, project.id, { cloud_credential_id: credentialId }))
    const requestNewest: Act = ({ project, cloudId }) =>
      statusOf(plane.request(project.deployer, project.id, { cloud_id: cloudId }))
    const requestCloud: Act = ({ project, cloudId }) =>
      statusOf(plane.requestCloud(project.deployer, project.id, cloudId))
    const approve: Act = ({ requested }) => statusOf(plane.approve(requested.approvalId))
    const reject: Act = ({ requested }) => statusOf(plane.reject(requested.approvalId))
    const withdraw: Act = ({ project, requested }) =>
      statusOf(plane.call(project.deployer, `POST /v1/approvals/${requested.approvalId}/withdraw`))
    const revoke: Act = ({ requested }) => statusOf(plane.revoke(plane.root, 'credential', requested.id))
    const revokeByProject: Act = ({ project, requested }) =>
      statusOf(plane.revoke(project.deployer, 'credential', requested.id))
    const revokeCredential: Act = ({ credentialId }) =>
      byRoot(`POST /v1/cloud-credentials/${credentialId}/revoke`, { reason })
    const deleteCredential: Act = ({ credentialId }) => byRoot(`DELETE /v1/cloud-credentials/${credentialId}`)
    const revokeCloud: Act = ({ cloudAssignment }) => statusOf(plane.revoke(plane.root, 'cloud', cloudAssignment))
    const cascade: Act = ({ cloudAssignment }) =>
      statusOf(plane.revoke(plane.root, 'cloud', cloudAssignment, { reason, cascade: true }))
    const deleteCloud: Act = ({ cloudId }) => byRoot(`DELETE /v1/clouds/${cloudId}`)
    const deleteProject: Act = ({ project }) => byRoot(`DELETE /v1/projects/${project.id}`)

    const ONE_OF_TWO: Outcomes = [
      [201, 409],
      [409, 201],
    ]
    const ONE_DECISION: Outcomes = [
      [200, 409],
      [409, 200],
    ]
    const BOTH_OR_LATE: Outcomes = [
      [200, 200],
      [409, 200],
    ]
    const OF_WHAT_GOES: Outcomes = [
      [200, 204],
      [403, 204],
      [404, 204],
      [409, 204],
    ]

    it.each<readonly [string, () => Promise<Ground>, readonly [Act, Act], Outcomes]>([
      ['two requests', usable, [request, request], ONE_OF_TWO],
      ['a request, and one of the newest', usable, [request, requestNewest], ONE_OF_TWO],
      [
        'a request, and the revocation of the credential',
        usable,
        [request, revokeCredential],
        [
          [201, 200],
          [422, 200],
        ],
      ],
      [
        'one of the newest, and its revocation',
        usable,
        [requestNewest, revokeCredential],
        [
          [201, 200],
          [422, 200],
        ],
      ],
      [
        'a request, and the deletion of the credential',
        usable,
        [request, deleteCredential],
        [
          [201, 409],
          [422, 204],
        ],
      ],
      [
        'a request, and the revocation of the Cloud',
        usable,
        [request, revokeCloud],
        [
          [201, 409],
          [422, 200],
        ],
      ],
      [
        'a request, and the cascade',
        usable,
        [request, cascade],
        [
          [201, 200],
          [422, 200],
        ],
      ],
      [
        'a request, and the deletion of the Project',
        usable,
        [request, deleteProject],
        [
          [201, 204],
          [403, 204],
          [404, 204],
        ],
      ],
      ['two requests of a Cloud', bare, [requestCloud, requestCloud], ONE_OF_TWO],
      [
        'a request of a Cloud, and its deletion',
        bare,
        [requestCloud, deleteCloud],
        [
          [201, 204],
          [404, 204],
        ],
      ],
      ['an approval of a Cloud, and its deletion', withCloudRequest, [approve, deleteCloud], OF_WHAT_GOES],
      ['an approval of a Cloud, and a rejection', withCloudRequest, [approve, reject], ONE_DECISION],
      ['an approval, and the revocation of the credential', withRequest, [approve, revokeCredential], BOTH_OR_LATE],
      ['an approval, and the cascade', withRequest, [approve, cascade], BOTH_OR_LATE],
      ['an approval, and the revocation of the Cloud', withRequest, [approve, revokeCloud], [[200, 409]]],
      ['an approval, and the deletion of the credential', withRequest, [approve, deleteCredential], [[200, 409]]],
      ['an approval, and the deletion of the Project', withRequest, [approve, deleteProject], OF_WHAT_GOES],
      ['an approval, and a rejection', withRequest, [approve, reject], ONE_DECISION],
      ['an approval, and a withdrawal', withRequest, [approve, withdraw], ONE_DECISION],
      ['revocations by both parties', lent, [revoke, revokeByProject], ONE_DECISION],
      ['a revocation, and that of the credential', lent, [revoke, revokeCredential], BOTH_OR_LATE],
      ['a revocation, and the cascade', lent, [revoke, cascade], BOTH_OR_LATE],
      ['a revocation, and the deletion of the Project', lent, [revoke, deleteProject], OF_WHAT_GOES],
    ])('%s contradict each other nowhere, and wait for each other nowhere', { timeout: 240_000 }, async (...row) => {
      const [, arrange, acts, outcomes] = row
      for (const [first, second, orderOf] of [
        [acts[0], acts[1], (met: readonly number[]) => met],
        [acts[1], acts[0], (met: readonly number[]) => met.toReversed()],
      ] as const) {
        const sample = await arrange()
        const statements = await statementsOf(pausing, () => first(sample))
        for (const behind of places(statements)) {
          const ground = await arrange()
          const met = await meet(pausing, behind, { first: () => first(ground), second: () => second(ground) })
          expect(outcomes, `behind statement ${behind}`).toContainEqual(orderOf(met))
          expect(await plane.contradictions(), `behind statement ${behind}`).toEqual([])
        }
      }
      expect(pausing.repeated, 'victims of a deadlock').toBe(0)
    })

    it('of 20 requests of one credential at once exactly one is taken', async () => {
      const ground = await usable()
      const half = Array.from({ length: REQUESTS / 2 })
      const statuses = await Promise.all(half.flatMap(() => [request(ground), requestNewest(ground)]))
      expect(statuses.toSorted()).toEqual([201, ...Array.from({ length: REQUESTS - 1 }, () => 409)])
      expect(await plane.approvalStates(ground.project.id)).toEqual(['approved', 'pending-approval'])
      expect(await plane.contradictions()).toEqual([])
    })

    it('of 20 requests of one Cloud at once exactly one is taken', async () => {
      const ground = await bare()
      const statuses = await Promise.all(Array.from({ length: REQUESTS }, () => requestCloud(ground)))
      expect(statuses.toSorted()).toEqual([201, ...Array.from({ length: REQUESTS - 1 }, () => 409)])
      expect(await plane.contradictions()).toEqual([])
    })

    it('are looked at for every contradiction that these tests exclude', async () => {
      const [other, { project, cloudAssignment, requested }] = [await withRequest(), await lent()]
      const set = (
        table: 'cloud_assignments' | 'credential_assignments',
        id: string,
        state: 'requested' | 'approved',
      ) => plane.db.updateTable(table).set({ state }).where('id', '=', id).execute()
      await set('credential_assignments', requested.id, 'requested')
      await set('credential_assignments', other.requested.id, 'approved')
      await set('cloud_assignments', cloudAssignment, 'requested')
      await plane.db
        .updateTable('approvals')
        .set({ object: 'cloud_assignment:x' })
        .where('id', '=', other.requested.approvalId)
        .execute()
      await plane.db
        .updateTable('credential_assignments')
        .set({ approval_id: project.id })
        .where('id', '=', other.requested.id)
        .execute()
      const found = (await plane.contradictions()).map((sentence) => sentence.replace(/ [^ ]*: /, ': '))
      expect(found.toSorted()).toEqual([
        'cloud_assignments: a pending approval of nothing',
        'cloud_assignments: its approval says otherwise',
        'cloud_assignments: its tuple without an approved one',
        'credential_assignments: approved without its tuple',
        'credential_assignments: its approval says otherwise',
        'credential_assignments: its approval says otherwise',
        'credential_assignments: its tuple without an approved one',
        'credential_assignments: lent without its Cloud or its credential',
      ])
    })
  })
})
