import { STORES } from '../support/datastores/stores.ts'
import { changeFeedContract } from './change-feed.contract.ts'

for (const store of STORES) changeFeedContract(store)
