import { describe } from 'vitest'
import { contract } from '../../src/shared/contract/index.ts'
import { isEngineMissing } from '../support/authz/engines.ts'
import { DATASTORE_KINDS, isDatastoreMissing } from '../support/datastores/datastores.ts'
import { describeConformance } from './loop.ts'
import { scenarios } from './scenarios/all.ts'
import { startWorld } from './world.ts'

describe.skipIf(isDatastoreMissing('postgres') || isEngineMissing('spicedb'))(
  'the API on PostgreSQL and SpiceDB',
  () => {
    describeConformance({ contract, scenarios, start: () => startWorld('postgres', 'spicedb') })
  },
)

describe.each(DATASTORE_KINDS)('the API on the %s datastore', (kind) => {
  describe.skipIf(isDatastoreMissing(kind))('', () => {
    describeConformance({ contract, scenarios, start: () => startWorld(kind) })
  })
})
