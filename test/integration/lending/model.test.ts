import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { depth } from '../../support/run/depth.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { startLending, type LendingPlane } from '../../support/server/lending.ts'

const DEADLINE_MS = depth({ ci: 120_000, deep: 1_800_000 })

type Decision = 'approve' | 'reject' | 'withdraw' | 'approve-own'

/** One act. Projects and credentials are given by their numbers; a credential of -1 stands for the Cloud itself. */
type Act =
  | { readonly do: 'request'; readonly project: number; readonly credential: number }
  | { readonly do: 'newest'; readonly project: number }
  | { readonly do: 'decide'; readonly project: number; readonly credential: number; readonly how: Decision }
  | { readonly do: 'revoke'; readonly project: number; readonly credential: number; readonly byProject: boolean }
  | { readonly do: 'cascade'; readonly project: number }
  | { readonly do: 'set'; readonly credential: number; readonly state: 'active' | 'suspended' }

const project = fc.nat({ max: 1 })
const credential = fc.integer({ min: -1, max: 1 })
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('request' as const), project, credential }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('newest' as const), project }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('decide' as const),
      project,
      credential,
      how: fc.constantFrom<Decision>('approve', 'approve', 'approve', 'reject', 'withdraw', 'approve-own'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('revoke' as const), project, credential, byProject: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cascade' as const), project }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('set' as const),
      credential: fc.nat({ max: 1 }),
      state: fc.constantFrom('active' as const, 'suspended' as const),
    }),
  },
)

/** Acts of a round are done at once. */
const rounds = fc.array(fc.array(act, { minLength: 1, maxLength: 3 }), { minLength: 4, maxLength: 16 })

interface Assignment {
  readonly id: string
  readonly approval_id: string
  readonly state: string
}

/** What is stored: the latest assignment of each pair, and whether each credential is active. */
interface Snapshot {
  latest(project: number, credential: number): Assignment | undefined
  isActive(credential: number): boolean
}

const isLive = (assignment: Assignment | undefined): boolean =>
  assignment?.state === 'requested' || assignment?.state === 'approved'

/** The status that answers an act which is alone in its round; undefined where it has no object. */
function predict(seen: Snapshot, one: Act): number | undefined {
  switch (one.do) {
    case 'set':
      return 200
    case 'request':
      return predictRequest(seen, one.project, one.credential)
    case 'newest': {
      const newest = [1, 0].find((index) => seen.isActive(index))
      if (seen.latest(one.project, -1)?.state !== 'approved' || newest === undefined) return 422
      return predictRequest(seen, one.project, newest)
    }
    case 'decide': {
      const found = seen.latest(one.project, one.credential)
      if (found === undefined) return undefined
      if (one.how === 'approve-own') return 403
      if (found.state !== 'requested') return 409
      return one.how === 'approve' && one.credential >= 0 && !seen.isActive(one.credential) ? 422 : 200
    }
    default:
      return predictRevocation(seen, one)
  }
}

function predictRequest(seen: Snapshot, of: number, index: number): number {
  if (index >= 0 && seen.latest(of, -1)?.state !== 'approved') return 422
  if (index >= 0 && !seen.isActive(index)) return 422
  return isLive(seen.latest(of, index)) ? 409 : 201
}

function predictRevocation(seen: Snapshot, one: Extract<Act, { do: 'revoke' | 'cascade' }>): number | undefined {
  const index = one.do === 'cascade' ? -1 : one.credential
  const found = seen.latest(one.project, index)
  if (found === undefined) return undefined
  if (found.state !== 'approved') return 409
  const isInUse = index === -1 && [0, 1].some((each) => isLive(seen.latest(one.project, each)))
  return isInUse && one.do === 'revoke' ? 409 : 200
}

describe.each(STORES)('Assignments under any acts on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let plane: LendingPlane
    beforeAll(async () => {
      plane = await startLending(store)
    })
    afterAll(() => plane?.stop())

    async function arrange() {
      const cloudId = await plane.cloud()
      const projects = [await plane.projectWithDeployer(), await plane.projectWithDeployer()] as const
      for (const { deployer } of projects)
        plane.callers.add(deployer, plane.domainId, { presentedAs: `browser.${deployer}` })
      return { cloudId, projects, credentials: [await plane.credential(cloudId), await plane.credential(cloudId)] }
    }
    type Ground = Awaited<ReturnType<typeof arrange>>

    async function look({ projects, credentials }: Ground): Promise<Snapshot> {
      const inProjects = projects.map(({ id }) => id)
      const ofClouds = await plane.db
        .selectFrom('cloud_assignments')
        .selectAll()
        .where('project_id', 'in', inProjects)
        .orderBy('id')
        .execute()
      const ofCredentials = await plane.db
        .selectFrom('credential_assignments')
        .selectAll()
        .where('project_id', 'in', inProjects)
        .orderBy('id')
        .execute()
      const states = await plane.db
        .selectFrom('cloud_credentials')
        .select(['id', 'state'])
        .where('id', 'in', credentials)
        .execute()
      return {
        latest: (of, index) =>
          index < 0
            ? ofClouds.findLast(({ project_id: id }) => id === inProjects[of])
            : ofCredentials.findLast(
                (row) => row.project_id === inProjects[of] && row.cloud_credential_id === credentials[index],
              ),
        isActive: (index) => states.find(({ id }) => id === credentials[index])?.state === 'active',
      }
    }

    /** Does an act; undefined where it has no object. */
    async function perform(ground: Ground, seen: Snapshot, one: Act): Promise<number | undefined> {
      const { cloudId, projects, credentials } = ground
      if (one.do === 'set') {
        const id = credentials[one.credential] ?? ''
        await plane.db.updateTable('cloud_credentials').set({ state: one.state }).where('id', '=', id).execute()
        return 200
      }
      const { id, deployer } = projects[one.project === 0 ? 0 : 1]
      if (one.do === 'newest') return (await plane.request(deployer, id, { cloud_id: cloudId })).status
      if (one.do === 'request') {
        if (one.credential < 0) return (await plane.requestCloud(deployer, id, cloudId)).status
        return (await plane.request(deployer, id, { cloud_credential_id: credentials[one.credential] })).status
      }
      const found = seen.latest(one.project, one.do === 'cascade' ? -1 : one.credential)
      if (found === undefined) return undefined
      if (one.do === 'decide') return decide(found.approval_id, one.how, deployer)
      const body = { reason: 'No longer needed', ...(one.do === 'cascade' && { cascade: true }) }
      const as = one.do === 'revoke' && one.byProject ? deployer : plane.root
      const lent = one.do === 'cascade' || one.credential < 0 ? 'cloud' : 'credential'
      return (await plane.revoke(as, lent, found.id, body)).status
    }

    async function decide(approvalId: string, how: Decision, deployer: string): Promise<number> {
      if (how === 'approve') return (await plane.approve(approvalId)).status
      if (how === 'reject') return (await plane.reject(approvalId)).status
      const verb = how === 'withdraw' ? 'withdraw' : 'approve'
      const { status } = await plane.call(`browser.${deployer}`, `POST /v1/approvals/${approvalId}/${verb}`, {})
      return status
    }

    /** Approvals that nobody but their requester has approved. */
    const decidedAlone = () =>
      plane.db
        .selectFrom('approvals')
        .select('id')
        .where('state', '=', 'approved')
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('approval_decisions as decision')
                .select('decision.subject')
                .whereRef('decision.approval_id', '=', 'approvals.id')
                .whereRef('decision.subject', '<>', 'approvals.requested_by')
                .where('decision.decision', '=', 'approve'),
            ),
          ),
        )
        .execute()

    it(
      "are live once for a pair, agree with tuples and approvals after each round, and are nobody's own decision",
      { timeout: DEADLINE_MS },
      async () => {
        await fc.assert(
          fc.asyncProperty(rounds, async (all) => {
            const ground = await arrange()
            for (const round of all) {
              const seen = await look(ground)
              const statuses = await Promise.all(round.map((one) => perform(ground, seen, one)))
              const [only] = round
              if (round.length === 1 && only !== undefined)
                expect(statuses, JSON.stringify(only)).toEqual([predict(seen, only)])
              for (const status of statuses) expect([undefined, 200, 201, 403, 409, 422]).toContain(status)
              expect(await plane.contradictions(), JSON.stringify(round)).toEqual([])
            }
            expect(await decidedAlone()).toEqual([])
          }),
          { numRuns: depth({ ci: 25, deep: 400 }) },
        )
      },
    )
  })
})
