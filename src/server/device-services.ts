import type { deviceFlow } from '../shared/contract/device-flow.ts'
import { createDevicePages } from './device-flow/pages.ts'
import { createDeviceFlow, type DeviceFlowDeps } from './device-flow/service.ts'
import { createWrongCodes } from './device-flow/wrong-codes.ts'
import type { Page } from './http/pages.ts'
import type { Handlers } from './http/request-context.ts'
import type { IdpBindings } from './ports/idp-bindings.ts'
import type { Sessions } from './ports/sessions.ts'
import type { UnitOfWork } from './ports/unit-of-work.ts'
import { createRelyingParty, type RelyingPartyDeps } from './sign-in/relying-party.ts'
import { createSignInStart, type StartDeps } from './sign-in/start.ts'
import { startFromPages } from './start-sign-in.ts'
import { requireScopes } from './tokens/scopes.ts'

type DeviceServicesDeps = Omit<DeviceFlowDeps, 'wrongCodes' | 'requireScopes' | 'bindings'> &
  Omit<RelyingPartyDeps, 'bindings'> &
  Pick<StartDeps, 'secrets'> & {
    readonly bindings: IdpBindings
    readonly sessions: Pick<Sessions, 'csrfToken'>
    readonly unitOfWork: UnitOfWork
  }

/** The device flow and its page, which share the limit of wrong codes. */
export function createDeviceServices(deps: DeviceServicesDeps): {
  readonly deviceFlow: Handlers<typeof deviceFlow>
  readonly pages: readonly Page[]
} {
  const wrongCodes = createWrongCodes()
  const start = createSignInStart({ ...deps, relyingParty: createRelyingParty(deps) })
  const startSignIn = startFromPages(start, deps.unitOfWork)
  return {
    deviceFlow: createDeviceFlow({ ...deps, wrongCodes, requireScopes }),
    pages: createDevicePages({ ...deps, wrongCodes, startSignIn }),
  }
}
