import type { objectSearch } from '../../../src/shared/contract/object-search.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** Scenarios of selectors and of the search by them. */
export const objectSearchScenarios: Scenarios<World, typeof objectSearch> = {
  PreviewLabelSelector: ({ root, nobody }) => ({
    input: { body: { selector: '*', kind: 'domain' as const } },
    as: root,
    lesser: nobody,
  }),
  PreviewDomainSelector: ({ domainId, root, nobody }) => ({
    input: { id: domainId, body: { selector: '*', kind: 'domain' as const } },
    as: root,
    lesser: nobody,
  }),
  async SearchObjectsByLabel(world) {
    const { id } = await world.make('CreateDomain', { body: { slug: world.name(), display_name: 'Searched' } })
    for (const _ of ['one', 'two', 'three'])
      await world.make('CreateProject', { id, body: { slug: world.name(), display_name: 'A Project' } })
    const body = { selector: '*', scope: 'domain' as const, scope_id: id, kind: 'project' as const }
    return { input: { body }, as: world.root }
  },
}
