import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createConsumption } from '../../../src/server/outbox/consumption.ts'
import { createNumbering } from '../../../src/server/outbox/numbering.ts'
import { visibleIds } from '../../../src/server/policies/visible-ids.ts'
import { readWorld } from '../../../src/server/policies/world-store.ts'
import { createWorlds, type Worlds } from '../../../src/server/policies/worlds.ts'
import { createLabelConsumer } from '../../../src/server/slices/policies/label-consumer.ts'
import { REMATCHING } from '../../../src/server/slices/policies/rematching.ts'
import { unfenced } from '../../support/datastores/leading.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { startPolicedFleet, type PolicedFleet } from '../../support/fleet/policed-fleet.ts'

const rule = (direction: 'ingress' | 'egress', peers: string) => ({
  direction,
  peers,
  protocol: 'tcp',
  ports: ['5432'],
})

describe.each(STORES)('Peer visibility under policies of the API on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: PolicedFleet
    let worlds: Worlds
    beforeAll(async () => {
      fleet = await startPolicedFleet(store)
      worlds = createWorlds({ read: (domainId, since) => readWorld(fleet.db, domainId, since) })
    }, 120_000)
    afterAll(() => fleet.stop())

    /** Matches nodes again whose labels changed, as the leader does. */
    async function settle(): Promise<void> {
      const { datastore, ids } = fleet
      const fail = (_name: string, _event: unknown, error: unknown): never => {
        throw error
      }
      const consumption = createConsumption({ datastore, ids, consumer: createLabelConsumer(fleet), onPoison: fail })
      const numbering = createNumbering({ datastore, onNumbered: () => undefined })
      while (await numbering.run(unfenced(fleet)));
      while (await consumption.run(unfenced(fleet)));
      while (await fleet.runJob(REMATCHING));
    }

    const revisionOf = async (domainId: string) => {
      const row = fleet.db.selectFrom('domain_peers').select('revision').where('domain_id', '=', domainId)
      return Number((await row.executeTakeFirst())?.revision ?? 0)
    }

    it('follows each write of a policy and each change of a label, in a revision of its own', async () => {
      const domainId = await fleet.domain()
      const nodes = {
        web: await fleet.labelledNode({ domainId }, { tier: 'web' }),
        db: await fleet.labelledNode({ domainId }, { tier: 'db' }),
        other: await fleet.labelledNode({ domainId }, { tier: 'none' }),
      }
      await fleet.call(fleet.root, `PATCH /v1/domains/${domainId}`, { peer_visibility: 'reachable' })
      await settle()
      const names = new Map(Object.entries(nodes).map(([name, id]) => [id, name]))
      const seen = async () => {
        const visibility = await worlds.latest(domainId)
        if (visibility === undefined) throw new Error('all nodes see all others')
        const namesSeen = (id: string) => [...visibleIds(visibility, id)].map((other) => names.get(other)).toSorted()
        return Object.fromEntries(Object.entries(nodes).map(([name, id]) => [name, namesSeen(id)]))
      }
      let revision = await revisionOf(domainId)
      const risen = async () => {
        const before = revision
        revision = await revisionOf(domainId)
        return revision > before
      }
      expect(await seen()).toEqual({ web: ['db', 'other'], db: ['other', 'web'], other: ['db', 'web'] })

      // Nobody reaches anybody by default; the web reaches databases.
      const deny = await fleet.policy(domainId, { isolates: ['ingress', 'egress'] })
      expect([await seen(), await risen()]).toEqual([{ web: [], db: [], other: [] }, true])
      const toDb = await fleet.policy(domainId, { selector: 'tier=web', rules: [rule('egress', 'tier=db')] })
      expect(await seen()).toEqual({ web: [], db: [], other: [] })
      await fleet.policy(domainId, { selector: 'tier=db', rules: [rule('ingress', 'tier=web')] })
      expect([await seen(), await risen()]).toEqual([{ web: ['db'], db: ['web'], other: [] }, true])

      await fleet.label(domainId, `node:${nodes.other}`, { tier: 'web' })
      await settle()
      expect([await seen(), await risen()]).toEqual([{ web: ['db'], db: ['other', 'web'], other: ['db'] }, true])
      await fleet.label(domainId, `node:${nodes.web}`, { tier: undefined })
      await settle()
      expect([await seen(), await risen()]).toEqual([{ web: [], db: ['other'], other: ['db'] }, true])

      await fleet.call(fleet.root, `PATCH /v1/policies/${toDb.id}`, { rules: [] })
      expect([await seen(), await risen()]).toEqual([{ web: [], db: [], other: [] }, true])
      await fleet.call(fleet.root, `DELETE /v1/policies/${deny.id}`)
      // What is left isolates databases from all but the web.
      expect([(await seen())['other'], await risen()]).toEqual([['db', 'web'], true])
    })
  })
})
