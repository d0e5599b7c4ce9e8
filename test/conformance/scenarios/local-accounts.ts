import type { localAccounts } from '../../../src/shared/contract/local-accounts.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** Scenarios of the accounts of the bundled provider. */
export const localAccountScenarios: Scenarios<World, typeof localAccounts> = {
  PostAdminUsers: ({ domainId, name, root, nobody }) => ({
    input: { body: { login: name(), display_name: 'A person', domain_id: domainId } },
    as: root,
    lesser: nobody,
  }),
  async GetAdminUsers(world) {
    for (const _ of ['one', 'two']) await makeAccount(world)
    return { input: {}, as: world.root, lesser: world.nobody }
  },
  async PatchAdminUserByID(world) {
    const { id } = await makeAccount(world)
    return { input: { id, body: { display_name: 'Another name' } }, as: world.root, lesser: world.nobody }
  },
  async DeleteAdminUserByID(world) {
    return { input: await makeAccount(world), as: world.root, lesser: world.nobody }
  },
}

/** A new account, as paths name it. */
async function makeAccount({ domainId, make, name }: World): Promise<{ id: string }> {
  const body = { login: name(), display_name: 'A person', domain_id: domainId }
  const { id } = await make('PostAdminUsers', { body })
  return { id }
}
