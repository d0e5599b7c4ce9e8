import { DATASTORE_KINDS } from '../support/datastores/datastores.ts'
import { compareAndSetContract } from './compare-and-set.contract.ts'

for (const kind of DATASTORE_KINDS) compareAndSetContract(kind)
