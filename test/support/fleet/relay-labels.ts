import { createConsumption } from '../../../src/server/outbox/consumption.ts'
import { createNumbering } from '../../../src/server/outbox/numbering.ts'
import { assignLabel, removeLabel } from '../../../src/server/labels/assign.ts'
import type { ObjectKey } from '../../../src/server/labels/assignment-store.ts'
import { Problem } from '../../../src/shared/problems.ts'
import { createAssignments } from '../../../src/server/slices/bridge/assignments.ts'
import { unfenced } from '../datastores/leading.ts'
import type { Fleet } from './fleet.ts'
import { relayRow } from './relay-row.ts'

/** The seed Definition `platform/relay`. */
const RELAY = '01900000-0000-7000-8000-000000000004'

type LabelledFleet = Pick<Fleet, 'change' | 'datastore' | 'ids' | 'clock' | 'unitOfWork' | 'db' | 'call' | 'root'>

/** Words for the relays that nodes prefer, over a fleet whose surfaces have no labels. */
export function relayLabels(fleet: LabelledFleet) {
  const { datastore, ids, clock, db } = fleet
  const leading = unfenced(fleet)
  const fail = (_: string, __: unknown, error: unknown): never => {
    throw error
  }
  const consumption = createConsumption({ datastore, ids, consumer: createAssignments(fleet), onPoison: fail })
  const numbering = createNumbering({ datastore, onNumbered: () => undefined })
  let following = Promise.resolve()

  return {
    /** Makes a bridge with an enabled relay; gives its id. */
    async bridge(projectId: string, hostIds: readonly string[], port = 51_821): Promise<string> {
      const body = { kind: 'bridge', slug: `b-${ids.next()}`, display_name: 'Bridge', host_node_ids: hostIds }
      const made = await fleet.call(fleet.root, `POST /v1/projects/${projectId}/resources`, body)
      if (made.status !== 201) throw new Error(JSON.stringify(made.body))
      const id = String(made.body['id'])
      await db
        .insertInto('bridge_relays')
        .values({ ...relayRow(id, String(made.body['domain_id'])), listen_port: port })
        .execute()
      return id
    },
    /** Puts the label on the object, or removes it; an object that is gone has none. */
    async prefer(object: ObjectKey, bridgeId: string | null): Promise<void> {
      const wanted = { object, definitionId: RELAY, value: bridgeId ?? '', by: 'test:labels', nowMs: clock.nowMs }
      try {
        await fleet.change(async (change) => {
          if (bridgeId === null) await removeLabel(change, object, 'platform/relay')
          else await assignLabel(change, wanted)
        })
      } catch (error) {
        if (!(error instanceof Problem && error.code === 'object_not_found')) throw error
      }
    },
    /** Changes the relay of a bridge. */
    async relay(bridgeId: string, members: { readonly enabled?: boolean; readonly listen_port?: number }) {
      await db.updateTable('bridge_relays').set(members).where('resource_id', '=', bridgeId).execute()
    },
    /** Runs the consumer of labels until it has nothing to do: once at a time, as the leader does. */
    follow(): Promise<void> {
      following = following.then(async () => {
        while (await numbering.run(leading));
        while (await consumption.run(leading));
      })
      return following
    },
  }
}
