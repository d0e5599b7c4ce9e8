import { ENGINE_KINDS } from '../support/authz/engines.ts'
import { STORES } from '../support/datastores/stores.ts'
import { authorizerContract } from './authorizer.contract.ts'

for (const engine of ENGINE_KINDS) for (const store of STORES) authorizerContract(engine, store)
