import { STORES } from '../support/datastores/stores.ts'
import { datastoreContract } from './datastore.contract.ts'

for (const store of STORES) datastoreContract(store)
