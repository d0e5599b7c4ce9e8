import { DATASTORE_KINDS } from '../support/datastores/datastores.ts'
import { unitOfWorkContract } from './unit-of-work.contract.ts'

for (const kind of DATASTORE_KINDS) unitOfWorkContract(kind)
