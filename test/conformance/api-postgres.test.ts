import { describe } from 'vitest'
import { contract } from '../../src/shared/contract/index.ts'
import { POSTGRES } from '../support/datastores/stores.ts'
import { describeConformance } from './loop.ts'
import { scenarios } from './scenarios/all.ts'
import { startWorld } from './world.ts'

describe.skipIf(POSTGRES.missing)('the API on the postgres datastore', () => {
  describeConformance({ contract, scenarios, start: () => startWorld(POSTGRES) })
})
