import { createIssuers } from '../../../src/server/adapters/oidc-issuers/issuers.ts'
import { createOutgoingFetch } from '../../../src/server/adapters/outgoing-fetch/outgoing-fetch.ts'
import { createIdpBindings } from '../../../src/server/slices/idp-bindings/service.ts'
import { mounted, type MountedSurface } from '../../../src/server/http/request-context.ts'
import type { Issuers } from '../../../src/server/ports/issuers.ts'
import type { Sessions } from '../../../src/server/ports/sessions.ts'
import { idpBindings } from '../../../src/shared/contract/idp-bindings.ts'
import type { Backend } from '../../../src/server/composition/backend.ts'

export const CALLBACK_URL = 'https://ctl.example/v1/auth/callback'

/** What a test of bindings looks at beside the API. */
export interface BindingWatch {
  /** Bindings whose sessions were ended, in order. */
  readonly ended: string[]
  /** Issuers that were forgotten, in order. */
  readonly forgotten: string[]
}

/** The surface over real issuers, with two sessions on every binding. */
export function bindingSurface(
  { datastore, ids, sealing, clock }: Backend,
  { ended, forgotten }: BindingWatch,
): MountedSurface {
  const sessions: Pick<Sessions, 'endAllOfBinding'> = {
    async endAllOfBinding(_change, bindingId) {
      ended.push(bindingId)
      return 2
    },
  }
  const issuers: Pick<Issuers, 'forget'> = { forget: (issuer) => void forgotten.push(issuer) }
  const newIssuers = () => createIssuers({ fetch: createOutgoingFetch({ deadlineMs: 1000 }), clock })
  const deps = { datastore, ids, sealing, sessions, issuers, newIssuers, callbackUrl: CALLBACK_URL }
  return mounted(idpBindings, createIdpBindings(deps))
}
