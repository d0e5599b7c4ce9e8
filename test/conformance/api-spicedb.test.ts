import { describe } from 'vitest'
import { contract } from '../../src/shared/contract/index.ts'
import { isEngineMissing } from '../support/authz/engines.ts'
import { POSTGRES } from '../support/datastores/stores.ts'
import { describeConformance } from './loop.ts'
import { scenarios } from './scenarios/all.ts'
import { startWorld } from './world.ts'

describe.skipIf(POSTGRES.missing || isEngineMissing('spicedb'))('the API on PostgreSQL and SpiceDB', () => {
  describeConformance({ contract, scenarios, start: () => startWorld(POSTGRES, 'spicedb') })
})
