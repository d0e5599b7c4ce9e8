import { DATASTORE_KINDS } from '../support/datastores/datastores.ts'
import { signerContract } from './signer.contract.ts'

for (const kind of DATASTORE_KINDS) signerContract(kind)
