import { vi } from 'vitest'
import type { capacity } from '../../../src/shared/contract/capacity.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** A Domain has no capacity to show until the next sample. */
async function untilSampled({ make, domainId }: World): Promise<void> {
  const asked = () => make('GetDomainCapacity', { domain_id: domainId })
  await vi.waitFor(asked, { timeout: 30_000, interval: 200 })
}

/** Scenarios of the capacity of Domains. */
export const capacityScenarios: Scenarios<World, typeof capacity> = {
  async GetDomainCapacity(world) {
    await untilSampled(world)
    return { input: { domain_id: world.domainId }, as: world.keeper, lesser: world.nobody }
  },
  async SetCapacityTargets(world) {
    const input = { domain_id: world.domainId, body: { nodes: 20_000 } }
    return { input, as: world.root, lesser: world.nobody }
  },
  async GetDomainCapacityHistory(world) {
    const input = { domain_id: world.domainId, dimension: 'nodes' } as const
    return { input, as: world.keeper, lesser: world.nobody }
  },
}
