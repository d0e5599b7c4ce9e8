import { STORES } from '../support/datastores/stores.ts'
import { unitOfWorkContract } from './unit-of-work.contract.ts'

for (const store of STORES) unitOfWorkContract(store)
