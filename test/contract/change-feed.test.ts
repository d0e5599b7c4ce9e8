import { DATASTORE_KINDS } from '../support/datastores/datastores.ts'
import { changeFeedContract } from './change-feed.contract.ts'

for (const kind of DATASTORE_KINDS) changeFeedContract(kind)
