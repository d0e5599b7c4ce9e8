import { STORES } from '../support/datastores/stores.ts'
import { leadershipContract } from './leadership.contract.ts'

for (const store of STORES) leadershipContract(store)
