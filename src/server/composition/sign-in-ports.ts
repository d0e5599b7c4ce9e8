import type { Logger } from 'pino'
import { createOwnIssuer } from '../adapters/bundled-provider/own-issuer.ts'
import { createIssuers } from '../adapters/oidc-issuers/issuers.ts'
import { createOutgoingFetch } from '../adapters/outgoing-fetch/outgoing-fetch.ts'
import type { Config } from '../config/config.ts'
import type { CsrfTokens } from '../http/auth/csrf.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { MintGrantedToken } from '../ports/token-minting.ts'
import type { HeldCalls } from '../ports/held-calls.ts'
import type { AuditEntry } from '../ports/unit-of-work.ts'
import { pollDevice } from '../slices/device-flow/service.ts'
import { createMirroredGroups } from '../slices/groups/mirrored-groups.ts'
import { createServiceIdentities } from '../slices/identities/service-identities.ts'
import { createUsers } from '../slices/identities/users.ts'
import { createBindingDirectory } from '../slices/idp-bindings/directory.ts'
import { createInvitationBook } from '../slices/invitations/service.ts'
import { forgetSignIns } from '../slices/local-accounts/forget-sign-ins.ts'
import type { PasswordHashing } from '../slices/local-accounts/password-hash.ts'
import { createSessionOperations } from '../slices/sessions/service.ts'
import { createSessions } from '../slices/sessions/sessions.ts'
import { CALLBACK_PATH, createRelyingParty } from '../slices/sign-in/relying-party.ts'
import { createStartFromPage } from '../slices/sign-in/start-from-page.ts'
import type { Backend } from './backend.ts'
import { createLocalProvider } from './local-provider.ts'

export interface SignInPortsOptions {
  readonly config: Config
  readonly log: Logger
  /** The origin under which clients reach the server. */
  readonly baseUrl: string
  readonly mintGranted: MintGrantedToken
  readonly hashing: PasswordHashing
  readonly heldCalls: Pick<HeldCalls, 'isHeld'>
  /** Takes the audit rows of refusals that no answer waits for. */
  readonly onRefused: (entry: AuditEntry) => void
}

/** The ports by which people and workloads prove who they are. */
export function createSignInPorts(backend: Backend, options: SignInPortsOptions) {
  const { datastore, unitOfWork, keyring, sealing, clock, ids } = backend
  const { config, baseUrl, mintGranted } = options
  const users = createUsers({ keyring, sealing })
  const sessions = createSessions({
    ids,
    clock,
    keyring,
    sealing,
    forgetSignIns: config.hasBundledProvider ? forgetSignIns : undefined,
  })
  const bindings = createBindingDirectory({ sealing })
  const provider = config.hasBundledProvider ? createLocalProvider({ ...options, backend, users, sessions }) : undefined
  const outgoingFetch = createOutgoingFetch()
  const ownIssuer = provider && createOwnIssuer(provider.routes, baseUrl)
  const newIssuers = () => createIssuers({ fetch: outgoingFetch, clock, ownIssuer })
  const issuers = newIssuers()
  const relyingParty = createRelyingParty({ datastore, bindings, issuers, baseUrl })
  const csrfTokens: CsrfTokens = (sessionId) => sessions.csrfToken(sessionId)
  return {
    csrfTokens,
    foreignRoutes: provider === undefined ? [] : [provider.routes],
    ports: {
      users,
      sessions,
      bindings,
      issuers,
      newIssuers,
      relyingParty,
      outgoingFetch,
      invitations: createInvitationBook(),
      mirroredGroups: createMirroredGroups({ isHeld: options.heldCalls.isHeld }),
      workloads: createServiceIdentities({ keyring }),
      sessionOperations: createSessionOperations({ datastore, sessions }),
      startSignIn: createStartFromPage({ datastore, sealing, bindings, relyingParty, unitOfWork }),
      callbackUrl: `${baseUrl}${CALLBACK_PATH}`,
      onPasswordChanged: provider?.onPasswordChanged,
      pollDevice: (ctx: RequestContext, poll: Parameters<typeof pollDevice>[2]) =>
        pollDevice({ datastore, mintToken: mintGranted }, ctx, poll),
    },
  }
}
