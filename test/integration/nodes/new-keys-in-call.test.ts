import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { problemCodesOf } from '../../../src/shared/contract/problem-codes.ts'
import { OWN_SURFACES } from '../../support/authz/own-calls.ts'
import { pausingDatastore } from '../../support/datastores/pausing-datastore.ts'
import { POSTGRES, type TestStore } from '../../support/datastores/stores.ts'
import {
  CALLS_ABOUT_NODES,
  callsAboutNodes,
  type Called,
  type CallsAboutNodes,
} from '../../support/fleet/calls-about-nodes.ts'
import { freshPublicKey, startFleet, type Fleet } from '../../support/fleet/fleet.ts'
import { depth } from '../../support/run/depth.ts'
import { meet, places, statementsOf } from '../../support/run/meeting.ts'

/** Calls that change nothing keep nothing locked. */
const CHANGES = CALLS_ABOUT_NODES.filter(({ operation }) => operation.method !== 'GET')

// The embedded store has one connection: nothing waits for a row there.
describe.skipIf(POSTGRES.missing)('A node that gets new keys in the middle of a call by it or about it', () => {
  const pausing = pausingDatastore()
  const paused: TestStore = { ...POSTGRES, open: async () => pausing.over(await POSTGRES.open()) }
  let fleet: Fleet
  let domainId: string
  let calls: CallsAboutNodes
  beforeAll(async () => {
    fleet = await startFleet(paused, { surfaces: OWN_SURFACES })
    domainId = await fleet.domain()
    calls = callsAboutNodes(fleet, { domainId, projectId: await fleet.project(domainId) })
  }, 120_000)
  afterAll(() => fleet?.stop())

  const answerOf = async (as: string, operation: string, body: unknown): Promise<string> => {
    const { status, body: answer } = await fleet.call(as, operation, body)
    return status < 300 ? 'done' : String(answer['code'])
  }

  const registration = () => ({ name: 'again', kind: 'vm', public_key: freshPublicKey() })

  /** Lets the node join once more. Gives what does it. */
  async function joining({ nodeId }: Pick<Called, 'nodeId'>): Promise<() => Promise<string>> {
    const { token } = await fleet.token(domainId, { node_id: nodeId })
    return () => answerOf(token, 'POST /v1/nodes/register', registration())
  }

  /** Asks the node for new keys. Gives what makes them. */
  async function rotating({ nodeId, nsk }: Called): Promise<() => Promise<string>> {
    const key = nsk ?? (await keyOf(nodeId))
    await fleet.call(fleet.root, `POST /v1/nodes/${nodeId}/keys/rotate`)
    return () => answerOf(key, 'POST /v1/keys/rotate', { public_key: freshPublicKey() })
  }

  async function keyOf(nodeId: string): Promise<string> {
    const { token } = await fleet.token(domainId, { node_id: nodeId })
    return String((await fleet.call(token, 'POST /v1/nodes/register', registration())).body['nsk'])
  }

  describe.each([
    ['joins once more', joining],
    ['completes a rotation', rotating],
  ] as const)('because it %s', (_, renewing) => {
    it.each(CHANGES.map((placed) => [placed.id, placed] as const))(
      'makes no deadlock with %s, whichever of the two stands still, and wherever',
      async (__, placed) => {
        const sample = await calls.arrange(placed)
        const renewSample = await renewing(sample)
        const ofRenewal = await statementsOf(pausing, async () => expect(await renewSample()).toBe('done'))
        const other = await calls.arrange(placed)
        const ofCall = await statementsOf(pausing, async () => expect(await other.send()).toBe('done'))
        const repeated = pausing.repeated
        const codes = ['done', ...problemCodesOf(placed.operation)]
        for (const behind of places(ofCall)) {
          const called = await calls.arrange(placed)
          const [answer] = await meet(pausing, behind, { first: called.send, second: await renewing(called) })
          expect(codes).toContain(answer)
        }
        for (const behind of places(ofRenewal)) {
          const called = await calls.arrange(placed)
          const [, answer] = await meet(pausing, behind, { first: await renewing(called), second: called.send })
          expect(codes).toContain(answer)
        }
        expect(pausing.repeated - repeated, 'victims of a deadlock').toBe(0)
      },
      depth({ ci: 120_000, deep: 1_200_000 }),
    )
  })
})
