import { STORES } from '../support/datastores/stores.ts'
import { migrationsContract } from './migrations.contract.ts'

for (const store of STORES) migrationsContract(store)
