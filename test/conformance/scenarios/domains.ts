import type { domains } from '../../../src/shared/contract/domains.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** Scenarios of the Domain operations. */
export const domainScenarios: Scenarios<World, typeof domains> = {
  CreateDomain: ({ name, root, nobody }) => ({
    input: { body: { slug: name(), display_name: 'A tenant' } },
    as: root,
    lesser: nobody,
  }),
  ListDomains: ({ root }) => ({ input: {}, as: root }),
  GetDomain: ({ domainId, root, nobody }) => ({ input: { id: domainId }, as: root, lesser: nobody }),
  GetDomainUsage: ({ domainId, root, nobody }) => ({ input: { id: domainId }, as: root, lesser: nobody }),
  PatchDomain: ({ domainId, root, nobody }) => ({
    input: { id: domainId, body: { display_name: 'Renamed' } },
    as: root,
    lesser: nobody,
  }),
  async DeleteDomain({ make, name, root, nobody }) {
    const { id } = await make('CreateDomain', { body: { slug: name(), display_name: 'Short-lived' } })
    return { input: { id }, as: root, lesser: nobody, domainId: id }
  },
}
