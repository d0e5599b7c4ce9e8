import type { bridge } from '../../../shared/contract/bridge.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers } from '../../http/request-context.ts'

/** Serves the check of a bridge. */
export function createCheck(_deps: object): Pick<Handlers<typeof bridge>, 'CheckBridge'> {
  return {
    CheckBridge() {
      throw problem('bridge_not_provisioned')
    },
  }
}
