import { STORES } from '../support/datastores/stores.ts'
import { compareAndSetContract } from './compare-and-set.contract.ts'

for (const store of STORES) compareAndSetContract(store)
