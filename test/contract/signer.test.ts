import { STORES } from '../support/datastores/stores.ts'
import { signerContract } from './signer.contract.ts'

for (const store of STORES) signerContract(store)
