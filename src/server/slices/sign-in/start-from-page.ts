import type { Cookie } from '../../http/cookies.ts'
import type { WhereToSignIn } from '../../ports/idp-bindings.ts'
import type { AuditEntry, UnitOfWork } from '../../ports/unit-of-work.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import type { AskedSignIn } from './authentication-strength.ts'
import { keep, prepare, type BeginDeps } from './begin.ts'

/** A sign-in that a page of this server begins. */
export interface PageSignIn {
  readonly where: WhereToSignIn
  /** A path on this origin. */
  readonly returnTo: string
  readonly asked?: AskedSignIn
  readonly visit: {
    readonly correlationId: string
    readonly nowMs: number
    /** The signed-in user; undefined where nobody is signed in. */
    readonly session: Pick<Caller, 'subject'> | undefined
  }
}

/** Does what `PostAuthSignIn` does, with the same audit row, for pages that redirect the browser themselves. */
export function createStartFromPage(deps: BeginDeps & { readonly unitOfWork: UnitOfWork }) {
  return async ({ where, returnTo, asked = {}, visit }: PageSignIn) => {
    const { correlationId, nowMs, session } = visit
    const subject = session?.subject ?? 'anonymous'
    const beginning = await prepare(deps, { where, returnTo, asked, nowMs })
    const audit = () => [startedIn(beginning.domainId, { correlationId, subject })]
    await deps.unitOfWork.run({ pool: 'interactive', correlationId, audit }, (change) => keep(deps, change, beginning))
    const cookies: readonly Cookie[] = [beginning.cookie]
    return { location: beginning.authorizationUrl, cookies }
  }
}

function startedIn(domainId: string, by: Pick<AuditEntry, 'correlationId' | 'subject'>): AuditEntry {
  const object = `domain:${domainId}`
  const relation = 'auth.sign_in.start'
  const decision = { outcome: 'granted', reason: 'granted' } as const
  return { domainId, relation, object, ...decision, ...by, context: {} }
}
