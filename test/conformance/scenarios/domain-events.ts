import type { domainEvents } from '../../../src/shared/contract/domain-events.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

export const domainEventScenarios: Scenarios<World, typeof domainEvents> = {
  async GetDomainEvents({ domainId, keeper, nobody }) {
    return { input: { domain_id: domainId }, as: keeper, lesser: nobody }
  },
}
