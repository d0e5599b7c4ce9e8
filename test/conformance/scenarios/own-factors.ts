import type { ownFactors } from '../../../src/shared/contract/own-factors.ts'
import type { Scenarios } from '../scenario.ts'
import { exchange, signed } from '../wire.ts'
import type { World } from '../world.ts'

/** Scenarios of people's own second factors. */
export const ownFactorScenarios: Scenarios<World, typeof ownFactors> = {
  async GetAuthFactors({ signedInWithFactor, nobody }) {
    return { input: {}, as: await signedInWithFactor(), also: [{ as: nobody }] }
  },
  async DeleteAuthFactorByID({ url, signedInWithFactor }) {
    const as = await signedInWithFactor()
    const answer = await exchange(url, signed({ method: 'GET', path: '/v1/auth/factors' }, as))
    const [own] = answer.json as unknown as readonly { readonly id: string }[]
    return { input: { id: own?.id ?? '' }, as }
  },
}
