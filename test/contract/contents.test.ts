import { DATASTORE_KINDS } from '../support/datastores/datastores.ts'
import { contentsContract } from './contents.contract.ts'

for (const kind of DATASTORE_KINDS) contentsContract(kind)
