import { describe } from 'vitest'
import { contract } from '../../src/shared/contract/index.ts'
import { isEngineMissing } from '../support/authz/engines.ts'
import { POSTGRES } from '../support/datastores/stores.ts'
import { depth } from '../support/run/depth.ts'
import { DECISION_RULES, describeConformance, RULES } from './loop.ts'
import { scenarios } from './scenarios/all.ts'
import { startWorld } from './world.ts'

// How a request is read does not depend on the engine; both datastores are tested with all rules.
const rules = depth({ ci: DECISION_RULES, deep: RULES })

describe.skipIf(POSTGRES.missing || isEngineMissing('spicedb'))('the API on PostgreSQL and SpiceDB', () => {
  describeConformance({ contract, scenarios, start: () => startWorld(POSTGRES, 'spicedb'), rules })
})
