import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { problemCodesOf } from '../../../src/shared/contract/problem-codes.ts'
import { contract } from '../../../src/shared/contract/index.ts'
import { PROBLEMS } from '../../../src/shared/problems.ts'
import type { Operation } from '../../../src/shared/contract/operation.ts'
import { arrangeOwn, OWN_KEY_OPERATIONS } from '../../conformance/own-keys.ts'
import type { ValidCall } from '../../conformance/scenario.ts'
import { scenarios } from '../../conformance/scenarios/all.ts'
import { placedIn, type Placed } from '../../conformance/placed.ts'
import { exchange, layOut, signed, type WireRequest } from '../../conformance/wire.ts'
import { freshPublicKey, startFleet, type Enrolled, type Fleet } from '../../support/fleet/fleet.ts'
import { depth } from '../../support/run/depth.ts'
import { leftOfNode } from '../../support/datastores/left-of-node.ts'
import { meet, places, statementsOf } from '../../support/run/meeting.ts'
import { OWN_SURFACES, worldOf } from '../../support/authz/own-calls.ts'
import { pausingDatastore } from '../../support/datastores/pausing-datastore.ts'
import { STORES, type TestStore } from '../../support/datastores/stores.ts'

/** A stream ends by itself within a keep-alive; the contract and releases are about no node. */
const OTHERS: ReadonlySet<string> = new Set([
  'GetNodeEvents',
  'GetOpenapi',
  'GetPlexdArtifact',
  'GetPlexdArtifactSignature',
])
/** Calls about a node that are not under its path. */
const ELSEWHERE: ReadonlySet<string> = new Set(['RegisterNode', 'CreateMediatedSession'])

const tried = [
  ...OWN_KEY_OPERATIONS.filter(({ id }) => !OTHERS.has(id)),
  ...placedIn(contract).filter(
    ({ id, operation }) => ELSEWHERE.has(id) || (id !== 'DeleteNode' && isOperators(operation)),
  ),
]

/** Whether people change something of one node by it. */
function isOperators({ path, method, credentials }: Operation): boolean {
  return path.startsWith('/v1/nodes/{id}') && method !== 'GET' && !credentials.includes('nsk')
}

/** What stays of a node on purpose where its call was taken: reports of tampering. */
const KEPT: ReadonlySet<string> = new Set(['node_integrity_violations'])
/** A call by a node, or about one. */
interface Called {
  readonly placed: Placed
  readonly nodeId: string
  send(): Promise<string>
}

describe.each(STORES)(
  'A node that is deregistered in the middle of a call by it or about it, on the $name store,',
  (store) => {
    describe.skipIf(store.missing)('leaves nothing half-done and no deadlock:', () => {
      const pausing = pausingDatastore()
      const paused: TestStore = { ...store, open: async () => pausing.over(await store.open()) }
      let fleet: Fleet
      let place: { domainId: string; projectId: string }
      let bystander: Enrolled
      let sent = 0
      beforeAll(async () => {
        fleet = await startFleet(paused, { surfaces: OWN_SURFACES })
        const domainId = await fleet.domain()
        place = { domainId, projectId: await fleet.project(domainId) }
        bystander = await fleet.enrol(domainId)
      }, 120_000)
      afterAll(() => fleet?.stop())

      const correlation = (): string => `in-call.${sent}`

      async function answerTo(wire: WireRequest, as: string): Promise<string> {
        const { status, json } = await exchange(fleet.url, signed(wire, as, correlation()))
        return status < 300 ? 'done' : String(json?.['code'])
      }

      async function arrange(placed: Placed): Promise<Called> {
        // The scenarios send the time of this machine.
        fleet.clock.nowMs = Date.now()
        sent += 1
        if (placed.id === 'RegisterNode') return arrangeReturn(placed)
        const world = worldOf(fleet, place)
        if (!placed.operation.credentials.includes('nsk'))
          return arrangeOperators(placed, await scenarios[placed.id]?.(world))
        const call = await arrangeOwn(placed, world)
        return { placed, nodeId: call.nodeId, send: () => answerTo(call.wire(), call.nsk) }
      }

      function arrangeOperators(placed: Placed, call: ValidCall<object> | undefined): Called {
        if (call === undefined) throw new Error(`${placed.id} has no scenario`)
        const { id, body } = call.input as { readonly id?: string; readonly body?: { readonly node_id?: string } }
        const nodeId = id ?? body?.node_id ?? ''
        return { placed, nodeId, send: () => answerTo(layOut(placed.operation, { ...call.input }), fleet.root) }
      }

      /** A node that joins once more. */
      async function arrangeReturn(placed: Placed): Promise<Called> {
        const { node_id } = await fleet.enrol(place.domainId)
        const { token } = await fleet.token(place.domainId, { node_id })
        const wire = layOut(placed.operation, { body: { name: 'again', kind: 'vm', public_key: freshPublicKey() } })
        return { placed, nodeId: node_id, send: () => answerTo(wire, token) }
      }

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
            .where('correlation_id', '=', correlation())
            .execute()
          expect(told).toEqual([])
        }
        expect(await leftOfNode(fleet.db, nodeId, came === 'done' ? KEPT : undefined)).toEqual([])
        expect(await fleet.tuplesOf(`node:${nodeId}`)).toEqual([])
        const { body } = await fleet.call(bystander.nsk, `GET /v1/nodes/${bystander.node_id}/state`)
        expect(JSON.stringify(body['peers'])).not.toContain(nodeId)
        expect(pausing.repeated, 'victims of a deadlock').toBe(0)
      }

      it.each(tried.map((placed) => [placed.id, placed] as const))(
        '%s, whoever of the two stands still, and wherever',
        async (_, placed) => {
          const sample = await arrange(placed)
          const ofCall = await statementsOf(pausing, async () => expect(await sample.send()).toBe('done'))
          const ofEnd = await statementsOf(pausing, () => deregister(sample.nodeId))
          expect(ofCall).toBeGreaterThan(0)
          const came = new Set<string>()
          for (const behind of places(ofCall)) {
            const called = await arrange(placed)
            const paths = { first: called.send, second: () => deregister(called.nodeId) }
            const [answer, end] = await meet(pausing, behind, paths)
            expect(end).toBe('done')
            await expectGone(called, answer)
            came.add(answer)
          }
          for (const behind of places(ofEnd)) {
            const called = await arrange(placed)
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
