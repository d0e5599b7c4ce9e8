import { DATASTORE_KINDS } from '../support/datastores/datastores.ts'
import { datastoreContract } from './datastore.contract.ts'

for (const kind of DATASTORE_KINDS) datastoreContract(kind)
