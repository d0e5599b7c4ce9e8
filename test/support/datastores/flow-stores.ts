import { depth } from '../run/depth.ts'

/** Stores of a flow through several programs whose rules `test/integration` tests on both. */
export const FLOW_STORES = depth<readonly ('embedded' | 'postgres')[]>({
  ci: ['embedded'],
  deep: ['embedded', 'postgres'],
})
