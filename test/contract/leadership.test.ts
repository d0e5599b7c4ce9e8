import { DATASTORE_KINDS } from '../support/datastores/datastores.ts'
import { leadershipContract } from './leadership.contract.ts'

for (const kind of DATASTORE_KINDS) leadershipContract(kind)
