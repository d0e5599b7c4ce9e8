import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STORES } from '../support/datastores/stores.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'

describe.each(STORES)('Reconciling the index with the registry, on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let tenancy: Tenancy
    let domainId: string
    let viewer: string
    beforeAll(async () => {
      tenancy = await startTenancy(store, { surfaces: ['authz', 'relationTuples'] })
      domainId = await tenancy.domain()
      viewer = await tenancy.holder(domainId, 'viewer', `domain:${domainId}`)
    })
    afterAll(() => tenancy.stop())

    const reconcile = (as = tenancy.root) => tenancy.call(as, 'POST /v1/authz/reconcile', {})
    const stored = async (): Promise<number> => {
      const { rows } = await sql<{ count: string }>`select count(*) from relation_tuples`.execute(tenancy.db)
      return Number(rows[0]?.count)
    }

    it('finds nothing to mend where both are the same, caveats and conditions included', async () => {
      const place = { domainId, projectId: null }
      const binding = { subject: viewer, relation: 'auditor', resource: `domain:${domainId}` }
      await tenancy.change(async ({ tuples }) => {
        await tuples.create({ ...binding, caveatName: 'within_hours' }, place)
        await tuples.create({ ...binding, caveatName: 'from_network' }, place)
      })
      const answer = await reconcile()
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual({ checked: await stored(), granted: 0, revoked: 0, unresolved: 0 })
      expect(await tenancy.audit(answer)).toMatchObject({ relation: 'authz.reconcile', outcome: 'granted' })
    })

    it('counts tuples that were changed past the service', async () => {
      const { rows } = await sql<{ id: string }>`
        update relation_tuples set subject_id = 'somebody-else' where subject_id = ${viewer.slice(5)} and relation = 'viewer'
        returning id`.execute(tenancy.db)
      expect(rows).toHaveLength(1)
      // One that is stored is not indexed, and one that is indexed is not stored.
      expect((await reconcile()).body).toMatchObject({ unresolved: 2 })
      await sql`delete from relation_tuples where subject_id = 'somebody-else'`.execute(tenancy.db)
      expect((await reconcile()).body).toMatchObject({ unresolved: 1 })
    })

    it('goes on while tuples come and go', async () => {
      const before = Number((await reconcile()).body['unresolved'])
      const groups = Array.from({ length: 20 }, () => tenancy.group(domainId))
      const [answer] = await Promise.all([reconcile(), ...groups])
      expect([200, 503]).toContain(answer.status)
      expect((await reconcile()).body).toMatchObject({ unresolved: before })
    })

    it('is for platform administrators', async () => {
      expect((await reconcile(viewer)).status).toBe(403)
    })
  })
})
