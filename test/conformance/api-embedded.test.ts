import { describe } from 'vitest'
import { contract } from '../../src/shared/contract/index.ts'
import { EMBEDDED } from '../support/datastores/stores.ts'
import { describeConformance } from './loop.ts'
import { scenarios } from './scenarios/all.ts'
import { startWorld } from './world.ts'

describe('the API on the embedded datastore', () => {
  describeConformance({ contract, scenarios, start: () => startWorld(EMBEDDED) })
})
