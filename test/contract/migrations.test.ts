import { DATASTORE_KINDS } from '../support/datastores/datastores.ts'
import { migrationsContract } from './migrations.contract.ts'

for (const kind of DATASTORE_KINDS) migrationsContract(kind)
