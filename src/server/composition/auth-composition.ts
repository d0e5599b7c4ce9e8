import type { Logger } from 'pino'
import { createOwnIssuer } from '../adapters/bundled-provider/own-issuer.ts'
import { createIssuers } from '../adapters/oidc-issuers/issuers.ts'
import { createOutgoingFetch } from '../adapters/outgoing-fetch/outgoing-fetch.ts'
import type { Backend } from './backend.ts'
import { createBearerJwtResolver } from '../slices/bearer-jwts/bearer-jwt-resolver.ts'
import type { Config } from '../config/config.ts'
import { createDevicePages } from '../slices/device-flow/pages.ts'
import { createDeviceFlow, pollDevice } from '../slices/device-flow/service.ts'
import { createWrongCodes } from '../slices/device-flow/wrong-codes.ts'
import { createMirroredGroups } from '../slices/groups/mirrored-groups.ts'
import { createHomePage } from '../slices/home-page/home-page.ts'
import type { CsrfTokens } from '../http/auth/csrf.ts'
import type { LastUses } from '../http/auth/last-uses.ts'
import type { ForeignRoutes, Page } from '../http/pages/pages.ts'
import { createServiceIdentities } from '../slices/identities/service-identities.ts'
import { createUsers } from '../slices/identities/users.ts'
import { createBindingDirectory } from '../slices/idp-bindings/directory.ts'
import { createIdpBindings } from '../slices/idp-bindings/service.ts'
import { createInvitationBook, createInvitations } from '../slices/invitations/service.ts'
import { createAccountPages } from '../slices/local-accounts/account-pages.ts'
import { forgetSignIns } from '../slices/local-accounts/forget-sign-ins.ts'
import type { PasswordHashing } from '../slices/local-accounts/password-hash.ts'
import { createLocalProvider } from './local-provider.ts'
import type { CredentialResolver } from '../ports/credential-resolver.ts'
import type { MintGrantedToken } from '../ports/token-minting.ts'
import type { AuditEntry } from '../ports/unit-of-work.ts'
import { reportRefreshFailure } from './refresh-report.ts'
import { createSessionOperations } from '../slices/sessions/service.ts'
import { createSessionResolver } from '../slices/sessions/session-resolver.ts'
import { createSessions } from '../slices/sessions/sessions.ts'
import { CALLBACK_PATH, createRelyingParty } from '../slices/sign-in/relying-party.ts'
import { createSignIn } from '../slices/sign-in/service.ts'
import { createSignOutPage } from '../slices/sign-in/sign-out-page.ts'
import { createStartFromPage } from '../slices/sign-in/start-from-page.ts'
import { requireScopes, SCOPES } from '../slices/tokens/scopes.ts'
import { createAuthorizationServerMetadata } from '../slices/workloads/authorization-server-metadata.ts'
import { createWorkloadLimits } from '../slices/workloads/limits.ts'
import { createWorkloads } from '../slices/workloads/service.ts'

export interface SigningInDeps {
  readonly backend: Backend
  readonly config: Config
  readonly log: Logger
  /** The origin under which clients reach the server. */
  readonly baseUrl: string
  readonly mintGranted: MintGrantedToken
  readonly sessionUses: LastUses
  /** Takes when service identities authenticate. */
  readonly workloadSignIns: LastUses
  readonly hashing: PasswordHashing
  /** Takes the audit rows of refusals that no answer waits for. */
  readonly onRefused: (entry: AuditEntry) => void
}

/** Everything by which people and workloads prove who they are, put together. */
export function createSigningIn(given: SigningInDeps) {
  const parts = createParts(given)
  const { provider, sessions } = parts
  const foreignRoutes: readonly ForeignRoutes[] = provider === undefined ? [] : [provider.routes]
  const csrfTokens: CsrfTokens = (sessionId) => sessions.csrfToken(sessionId)
  return {
    handlers: handlersOf(given, parts),
    pages: pagesOf(given, parts),
    resolvers: resolversOf(given, parts),
    foreignRoutes,
    csrfTokens,
  }
}

/** What the surfaces, pages and resolvers share. */
type Parts = ReturnType<typeof createParts>

function createParts(given: SigningInDeps) {
  const { backend, config, baseUrl } = given
  const deps = { ...backend, baseUrl, changeFeed: backend.feed }
  const users = createUsers(deps)
  const sessions = createSessions({ ...deps, ...(config.hasBundledProvider && { forgetSignIns }) })
  const bindings = createBindingDirectory(deps)
  const provider = config.hasBundledProvider ? createLocalProvider({ ...given, users, sessions }) : undefined
  const outgoingFetch = createOutgoingFetch()
  const ownIssuer = provider && createOwnIssuer(provider.routes, baseUrl)
  const newIssuers = () => createIssuers({ fetch: outgoingFetch, clock: backend.clock, ownIssuer })
  const issuers = newIssuers()
  const beginning = { ...deps, bindings, relyingParty: createRelyingParty({ ...deps, bindings, issuers }) }
  const wrongCodes = createWrongCodes()
  return { deps, users, sessions, bindings, provider, outgoingFetch, newIssuers, issuers, beginning, wrongCodes }
}

function handlersOf({ config, log, baseUrl, mintGranted, workloadSignIns }: SigningInDeps, parts: Parts) {
  const { deps, users, sessions, bindings, outgoingFetch, newIssuers, issuers, beginning, wrongCodes } = parts
  const arriving = { users, sessions, invitations: createInvitationBook(), mirroredGroups: createMirroredGroups() }
  const onRefreshFailure = reportRefreshFailure(log)
  const limits = createWorkloadLimits(config.rates)
  const minting = { ...deps, mintToken: mintGranted }
  const callbackUrl = `${baseUrl}${CALLBACK_PATH}`
  return {
    signIn: {
      ...createSessionOperations({ ...deps, sessions }),
      ...createSignIn({ ...beginning, ...arriving }),
    },
    deviceFlow: createDeviceFlow({ ...minting, bindings, wrongCodes, requireScopes }),
    serviceToken: createWorkloads({
      ...deps,
      mintGranted,
      limits,
      outgoingFetch,
      onRefreshFailure,
      signIns: workloadSignIns,
      pollDevice: (ctx, poll) => pollDevice(minting, ctx, poll),
    }),
    idpBindings: createIdpBindings({ ...deps, sessions, issuers, newIssuers, callbackUrl }),
    invitations: createInvitations(deps),
    localAccounts: parts.provider?.handlers,
    ownFactors: parts.provider?.ownFactors,
  }
}

function pagesOf({ log, hashing, onRefused }: SigningInDeps, parts: Parts): readonly Page[] {
  const { deps, sessions, wrongCodes, beginning, provider, bindings, issuers } = parts
  const startSignIn = createStartFromPage(beginning)
  const ofAccounts = provider && {
    ...deps,
    sessions,
    hashing,
    onRefused,
    onPasswordChanged: provider.onPasswordChanged,
  }
  return [
    createHomePage({ hasLocalAccounts: provider !== undefined }),
    createAuthorizationServerMetadata({ baseUrl: deps.baseUrl, scopes: SCOPES }),
    ...createDevicePages({ ...deps, sessions, wrongCodes, startSignIn }),
    ...(ofAccounts === undefined ? [] : createAccountPages({ ...ofAccounts, beginSignIn: startSignIn })),
    createSignOutPage({ ...deps, sessions, bindings, issuers, log }),
  ]
}

function resolversOf(
  { sessionUses, workloadSignIns }: SigningInDeps,
  { deps, bindings, issuers, users }: Parts,
): readonly CredentialResolver[] {
  const workloads = createServiceIdentities(deps)
  return [
    createBearerJwtResolver({ ...deps, bindings, issuers, users, workloads, workloadSignIns }),
    createSessionResolver({ ...deps, lastUses: sessionUses }),
  ]
}
