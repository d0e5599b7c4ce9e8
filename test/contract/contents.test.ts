import { STORES } from '../support/datastores/stores.ts'
import { contentsContract } from './contents.contract.ts'

for (const store of STORES) contentsContract(store)
