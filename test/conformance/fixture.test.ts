import { describe } from 'vitest'
import { fixtureContract } from '../support/server/fixture-server.ts'
import { fixtureScenarios, startFixtureWorld } from './fixture-world.ts'
import { describeConformance } from './loop.ts'

describe('a contract that uses the whole vocabulary', () => {
  describeConformance({ contract: fixtureContract, scenarios: fixtureScenarios, start: startFixtureWorld })
})
