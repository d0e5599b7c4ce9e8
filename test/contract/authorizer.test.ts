import { ENGINE_KINDS } from '../support/authz/engines.ts'
import { DATASTORE_KINDS } from '../support/datastores/datastores.ts'
import { authorizerContract } from './authorizer.contract.ts'

for (const engine of ENGINE_KINDS) for (const store of DATASTORE_KINDS) authorizerContract(engine, store)
