import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startLocalProvider, type LocalProvider } from '../support/sign-in/local-provider.ts'
import { meet, places, statementsOf } from '../support/run/meeting.ts'
import { pausingDatastore } from '../support/datastores/pausing-datastore.ts'
import { STORES } from '../support/datastores/stores.ts'

describe.each(STORES)('The last two platform administrators on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    const pausing = pausingDatastore()
    let local: LocalProvider
    let serial = 0
    beforeAll(async () => {
      local = await startLocalProvider({ ...store, open: async () => pausing.over(await store.open()) })
    })
    afterAll(() => local?.stop())

    /** Two accounts that administer the platform; the others cannot act any more. */
    async function lastTwo(): Promise<readonly string[]> {
      const { tenancy } = local
      await tenancy.db.updateTable('principals').set({ disabled_at: new Date() }).execute()
      const added = []
      for (const at of [0, 1]) {
        serial += 1
        const login = `last-${serial}-${at}`
        const body = { login, display_name: login, domain_id: tenancy.home, platform_admin: true }
        const answer = await tenancy.call(tenancy.root, 'POST /v1/admin/users', body)
        expect(answer.status).toBe(201)
        added.push(String(answer.body['id']))
      }
      return added
    }

    const statusOf = async (operation: string, body?: object) =>
      (await local.tenancy.call(local.tenancy.root, operation, body)).status
    const disable = (id = '') => statusOf(`PATCH /v1/admin/users/${id}`, { disabled: true })
    const remove = (id = '') => statusOf(`DELETE /v1/admin/users/${id}`)

    it.each([
      ['disabled', disable, 200],
      ['deleted', remove, 204],
    ])('are not both %s by two requests at once', async (_, takeAway, done) => {
      const [sample] = await lastTwo()
      const statements = await statementsOf(pausing, () => takeAway(sample))
      for (const behind of places(statements)) {
        const [one, other] = await lastTwo()
        const paths = { first: () => takeAway(one), second: () => takeAway(other) }
        expect((await meet(pausing, behind, paths)).toSorted()).toEqual([done, 409])
      }
    })
  })
})
