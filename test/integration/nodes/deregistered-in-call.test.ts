import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { problemCodesOf } from '../../../src/shared/contract/problem-codes.ts'
import { PROBLEMS } from '../../../src/shared/problems.ts'
import {
  CALLS_ABOUT_NODES,
  callsAboutNodes,
  type Called,
  type CallsAboutNodes,
} from '../../support/fleet/calls-about-nodes.ts'
import { startFleet, type Enrolled, type Fleet } from '../../support/fleet/fleet.ts'
import { depth } from '../../support/run/depth.ts'
import { leftOfNode } from '../../support/datastores/left-of-node.ts'
import { meet, places, statementsOf } from '../../support/run/meeting.ts'
import { OWN_SURFACES } from '../../support/authz/own-calls.ts'
import { pausingDatastore } from '../../support/datastores/pausing-datastore.ts'
import { STORES, type TestStore } from '../../support/datastores/stores.ts'

/** What stays of a node on purpose where its call was taken: reports of tampering. */
const KEPT: ReadonlySet<string> = new Set(['node_integrity_violations'])

describe.each(STORES)(
  'A node that is deregistered in the middle of a call by it or about it, on the $name store,',
  (store) => {
    describe.skipIf(store.missing)('leaves nothing half-done and no deadlock:', () => {
      const pausing = pausingDatastore()
      const paused: TestStore = { ...store, open: async () => pausing.over(await store.open()) }
      let fleet: Fleet
      let bystander: Enrolled
      let calls: CallsAboutNodes
      beforeAll(async () => {
        fleet = await startFleet(paused, { surfaces: OWN_SURFACES })
        const domainId = await fleet.domain()
        calls = callsAboutNodes(fleet, { domainId, projectId: await fleet.project(domainId) })
        bystander = await fleet.enrol(domainId)
      }, 120_000)
      afterAll(() => fleet?.stop())

      const deregister = async (nodeId: string): Promise<string> => {
        const { status, body } = await fleet.call(fleet.root, `DELETE /v1/nodes/${nodeId}`)
        return status === 204 ? 'done' : String(body['code'])
      }

      /** The call is refused as the contract says, or is done; of the node nothing is left, and of a refused call neither. */
      async function expectGone({ placed, nodeId }: Called, came: string): Promise<void> {
        if (came !== 'done') {
          expect(problemCodesOf(placed.operation)).toContain(came)
          expect(Object.entries(PROBLEMS).find(([code]) => code === came)?.[1].status).toBeLessThan(500)
          const told = await fleet.db
            .selectFrom('outbox')
            .select('event')
            .where('correlation_id', '=', calls.correlation())
            .execute()
          expect(told).toEqual([])
        }
        expect(await leftOfNode(fleet.db, nodeId, came === 'done' ? KEPT : undefined)).toEqual([])
        expect(await fleet.tuplesOf(`node:${nodeId}`)).toEqual([])
        const { body } = await fleet.call(bystander.nsk, `GET /v1/nodes/${bystander.node_id}/state`)
        expect(JSON.stringify(body['peers'])).not.toContain(nodeId)
        expect(pausing.repeated, 'victims of a deadlock').toBe(0)
      }

      it.each(CALLS_ABOUT_NODES.map((placed) => [placed.id, placed] as const))(
        '%s, whoever of the two stands still, and wherever',
        async (_, placed) => {
          const sample = await calls.arrange(placed)
          const ofCall = await statementsOf(pausing, async () => expect(await sample.send()).toBe('done'))
          const ofEnd = await statementsOf(pausing, () => deregister(sample.nodeId))
          expect(ofCall).toBeGreaterThan(0)
          const came = new Set<string>()
          for (const behind of places(ofCall)) {
            const called = await calls.arrange(placed)
            const paths = { first: called.send, second: () => deregister(called.nodeId) }
            const [answer, end] = await meet(pausing, behind, paths)
            expect(end).toBe('done')
            await expectGone(called, answer)
            came.add(answer)
          }
          for (const behind of places(ofEnd)) {
            const called = await calls.arrange(placed)
            const paths = { first: () => deregister(called.nodeId), second: called.send }
            const [end, answer] = await meet(pausing, behind, paths)
            expect(end).toBe('done')
            await expectGone(called, answer)
            came.add(answer)
          }
          expect(
            [...came].some((answer) => answer !== 'done'),
            'the end came first at least once',
          ).toBe(true)
        },
        depth({ ci: 120_000, deep: 1_200_000 }),
      )
    })
  },
)
