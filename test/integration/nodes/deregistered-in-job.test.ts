import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createExecutionTimeouts } from '../../../src/server/slices/executions/execution-sweeper.ts'
import { createMediatedSessionEnds } from '../../../src/server/slices/mediated-sessions/session-sweeper.ts'
import { createRelayChoice } from '../../../src/server/slices/mesh/relay-choice.ts'
import { createEndpointSweeper } from '../../../src/server/slices/node-observations/endpoint-sweeper.ts'
import { createEphemeralSweeper } from '../../../src/server/slices/nodes/ephemeral-sweeper.ts'
import { createKeySweeper } from '../../../src/server/slices/nodes/key-sweeper.ts'
import { createReachabilitySweeper } from '../../../src/server/slices/nodes/reachability-sweeper.ts'
import type { LeaderJob } from '../../../src/server/ports/leadership.ts'
import { createRowDigests } from '../../conformance/row-digests.ts'
import { depth } from '../../support/run/depth.ts'
import { startFleet, type Enrolled, type Fleet } from '../../support/fleet/fleet.ts'
import { unfenced } from '../../support/datastores/leading.ts'
import { leftOfNode } from '../../support/datastores/left-of-node.ts'
import { meet, places, statementsOf } from '../../support/run/meeting.ts'
import { OWN_SURFACES } from '../../support/authz/own-calls.ts'
import { pausingDatastore } from '../../support/datastores/pausing-datastore.ts'
import { STORES, type TestStore } from '../../support/datastores/stores.ts'
import { relayRow } from '../../support/fleet/relay-row.ts'

/** Longer than anything that time ends is kept. */
const LONG_MS = 31 * 86_400_000

const onFailure = (error: unknown): never => {
  throw new Error('the job failed', { cause: error })
}

/** What the leader does to nodes as time goes by. */
const JOBS: Readonly<Record<string, (fleet: Fleet) => LeaderJob>> = {
  reachability: createReachabilitySweeper,
  'stale endpoints': createEndpointSweeper,
  'relay choice': createRelayChoice,
  'execution timeouts': createExecutionTimeouts,
  'session ends': createMediatedSessionEnds,
  'retired keys': createKeySweeper,
  'ephemeral nodes': (fleet) => createEphemeralSweeper({ ...fleet, onFailure }),
}

describe.each(STORES)(
  'A node that is deregistered in the middle of a job of the leader, on the $name store,',
  (store) => {
    describe.skipIf(store.missing)('leaves nothing behind and no deadlock:', () => {
      const pausing = pausingDatastore(['interactive', 'heartbeats', 'node-keys', 'worker'])
      const paused: TestStore = { ...store, open: async () => pausing.over(await store.open()) }
      let fleet: Fleet
      let rowDigests: ReturnType<typeof createRowDigests>
      beforeAll(async () => {
        fleet = await startFleet(paused, { surfaces: OWN_SURFACES })
        rowDigests = createRowDigests(fleet.datastore)
      }, 120_000)
      afterAll(() => fleet?.stop())

      const done = async (
        as: string,
        operation: string,
        body?: unknown,
      ): Promise<Readonly<Record<string, unknown>>> => {
        const answer = await fleet.call(as, operation, body)
        if (answer.status >= 300) throw new Error(`${operation}: ${JSON.stringify(answer.body)}`)
        return answer.body
      }

      /** Two nodes of which time takes everything that it can take: each job has something to do with both. */
      async function arrange(): Promise<readonly [Enrolled, Enrolled]> {
        const { root, db } = fleet
        await db.deleteFrom('nodes').execute()
        const domain = await fleet.domain()
        const project = await fleet.project(domain)
        const nodes = [
          await fleet.enrol(domain, {}, { ephemeral: true }),
          await fleet.enrol(domain, {}, { ephemeral: true }),
        ] as const
        const hosts = nodes.map(({ node_id }) => node_id)
        const bridge = { kind: 'bridge', slug: 'edge', display_name: 'Edge', host_node_ids: hosts }
        const { id } = await done(root, `POST /v1/projects/${project}/resources`, bridge)
        await db
          .insertInto('bridge_relays')
          .values(relayRow(String(id), domain))
          .execute()
        for (const { node_id, nsk } of nodes) {
          const path = `/v1/nodes/${node_id}`
          const reported_at = new Date(fleet.clock.nowMs).toISOString()
          await fleet.beat({ node_id, nsk })
          await done(nsk, `PUT ${path}/endpoint`, { endpoint: '198.51.100.1:1', nat_type: 'cone', reported_at })
          await done(root, `POST ${path}/executions`, { action: 'ping', type: 'builtin' })
          await done(root, `POST /v1/projects/${project}/sessions`, { node_id, kind: 'ssh', target: 'deploy' })
          fleet.wait(1)
          await done(root, `POST ${path}/nsk/rotate`)
        }
        await createReachabilitySweeper(fleet).run(unfenced(fleet))
        fleet.wait(LONG_MS)
        return nodes
      }

      /** The other nodes of the leader's pass are done all the same. */
      async function expectDone(job: LeaderJob, gone: Enrolled): Promise<void> {
        expect(await leftOfNode(fleet.db, gone.node_id)).toEqual([])
        await job.run(unfenced(fleet))
        const rows = await rowDigests()
        await job.run(unfenced(fleet))
        expect(await rowDigests(), 'nothing is left to do').toEqual(rows)
        expect(pausing.repeated, 'victims of a deadlock').toBe(0)
      }

      it.each(Object.entries(JOBS))(
        '%s, whoever of the two stands still, and wherever',
        async (_, create) => {
          const run = () => create(fleet).run(unfenced(fleet))
          const end = ({ node_id }: Enrolled) => fleet.call(fleet.root, `DELETE /v1/nodes/${node_id}`)
          await arrange()
          const rows = await rowDigests()
          const ofJob = await statementsOf(pausing, run)
          expect(await rowDigests(), 'the job had something to do').not.toEqual(rows)
          const [sample] = await arrange()
          const ofEnd = await statementsOf(pausing, () => end(sample))
          for (const isFirst of [true, false]) {
            for (const behind of places(isFirst ? ofJob : ofEnd)) {
              const nodes = await arrange()
              const gone = nodes[behind % 2 === 0 ? 0 : 1]
              const [job, deregister] = [run, () => end(gone)]
              const answers = await meet<unknown, unknown>(pausing, behind, {
                first: isFirst ? job : deregister,
                second: isFirst ? deregister : job,
              })
              const { status } = answers[isFirst ? 1 : 0] as Awaited<ReturnType<typeof end>>
              // An ephemeral node may have gone by the sweeper before.
              expect([204, 403, 404]).toContain(status)
              await expectDone(create(fleet), gone)
            }
          }
        },
        depth({ ci: 120_000, deep: 1_200_000 }),
      )
    })
  },
)
