import type { identities } from '../../../src/shared/contract/identities.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

export const identityScenarios: Scenarios<World, typeof identities> = {
  ListIdentities: ({ root, nobody, domainId }) => ({
    input: { id: domainId, kind: 'service-identity' },
    as: root,
    lesser: nobody,
  }),
  GetIdentity: ({ root, nobody, domainId, identityId }) => ({
    input: { id: domainId, principal_id: identityId },
    as: root,
    lesser: nobody,
  }),
  CreateServiceIdentity: ({ root, nobody, domainId, name }) => ({
    input: { id: domainId, body: { display_name: 'A workload', subject: name() } },
    as: root,
    lesser: nobody,
  }),
  async UpdateServiceIdentity(world) {
    const { root, nobody, domainId } = world
    const input = { id: domainId, principal_id: await freshIdentity(world), body: { disabled: true } }
    return { input, as: root, lesser: nobody }
  },
  async DeleteServiceIdentity(world) {
    const { root, nobody, domainId } = world
    return { input: { id: domainId, principal_id: await freshIdentity(world) }, as: root, lesser: nobody }
  },
}

async function freshIdentity({ make, domainId, name }: World): Promise<string> {
  const body = { display_name: 'A workload', subject: name() }
  return (await make('CreateServiceIdentity', { id: domainId, body })).id
}
