import type { Logger } from 'pino'
import { contract } from '../shared/contract/index.ts'
import type { Surface } from '../shared/contract/operation.ts'
import { problem } from '../shared/problems.ts'
import { createIssuers } from './adapters/oidc-issuers/issuers.ts'
import { createOutgoingFetch } from './adapters/outgoing-fetch/outgoing-fetch.ts'
import { storedSubjects } from './adapters/stored-subjects/stored-subjects.ts'
import { createAudit } from './audit/service.ts'
import { createAuthz } from './authz/service.ts'
import type { Backend } from './backend.ts'
import type { Config } from './config.ts'
import { readRenderer } from './docs-renderer.ts'
import { createDomains } from './domains/service.ts'
import { createGrants } from './grants/service.ts'
import { createGroups } from './groups/service.ts'
import type { CsrfTokens } from './http/csrf.ts'
import { createHomePage } from './home-page/home-page.ts'
import { createLastUses } from './http/last-uses.ts'
import type { ForeignRoutes, Page } from './http/pages.ts'
import { mounted, type Handlers, type MountedSurface } from './http/request-context.ts'
import { createIdpBindings } from './idp-bindings/service.ts'
import { createIdentities } from './identities/service.ts'
import { createUsers } from './identities/users.ts'
import { createInvitations } from './invitations/service.ts'
import { createJoinTokenResolver } from './join-tokens/join-token-resolver.ts'
import { createJoinTokens } from './join-tokens/service.ts'
import { createLocalProvider } from './local-provider.ts'
import { createMeta } from './meta/service.ts'
import { createNskResolver } from './nodes/nsk-resolver.ts'
import { createRecoveryAnnouncer } from './nodes/recovery-announcer.ts'
import { createNodes } from './nodes/service.ts'
import type { CredentialResolver } from './ports/credential-resolver.ts'
import type { AuditEntry } from './ports/unit-of-work.ts'
import { createProjects } from './projects/service.ts'
import { createAdmission } from './relation-tuples/admission.ts'
import { reportRefreshFailure } from './refresh-report.ts'
import { createRelationTuples } from './relation-tuples/service.ts'
import { createResources } from './resources/service.ts'
import { createSessionOperations } from './sessions/service.ts'
import { createSessionResolver } from './sessions/session-resolver.ts'
import { createSessions } from './sessions/sessions.ts'
import { writeUses as writeSessionUses } from './sessions/store.ts'
import { createSigningKeys } from './signing-keys/service.ts'
import { createAdminTokens } from './tokens/admin-service.ts'
import { createApiTokenResolver } from './tokens/api-token-resolver.ts'
import { writeUses as writeTokenUses } from './tokens/store.ts'
import { createGrantedTokens } from './tokens/granted.ts'
import { createMint } from './tokens/mint.ts'
import { createTokens } from './tokens/service.ts'
import { createWorkloadLimits } from './workloads/limits.ts'
import { createWorkloads } from './workloads/service.ts'

/** Every surface with its handlers, and what has to be ended with them. */
export interface Services {
  readonly surfaces: readonly MountedSurface[]
  /** In the order in which they are tried. */
  readonly resolvers: readonly CredentialResolver[]
  /** Anti-forgery tokens of sessions. */
  readonly csrfTokens: CsrfTokens
  /** Pages for people, beside the operations. */
  readonly pages: readonly Page[]
  /** Paths that other libraries serve by themselves. */
  readonly foreignRoutes: readonly ForeignRoutes[]
  /** Answers what waits for a batch; later calls of that kind are refused. */
  drain(): Promise<void>
  /** Writes what was gathered. */
  flush(): Promise<void>
}

export interface ServicesOptions {
  readonly config: Config
  readonly log: Logger
  /** The origin under which clients reach the server. */
  readonly baseUrl: string
  /** Takes the audit rows of refusals that no answer waits for. */
  readonly onRefused: (entry: AuditEntry) => void
}

/** Makes the services over the backend. Subscribes their caches to the change feed, which must not run yet. */
export function createServices(backend: Backend, { config, log, baseUrl, onRefused }: ServicesOptions): Services {
  const { env } = config
  const staleMs = config.staleChecks.ttlMs
  const deps = { ...backend, env, subjects: storedSubjects, changeFeed: backend.feed }
  const admission = createAdmission({ ...deps, validateTuple: backend.engine.rules.validateTuple })
  const tokenUses = createLastUses({
    write: (uses) => writeTokenUses(backend.datastore.pool('worker'), uses),
    onFailure: (error) => log.warn({ err: error }, 'the last use of tokens could not be written'),
  })
  const sessionUses = createLastUses({
    write: (uses) => writeSessionUses(backend.datastore.pool('worker'), uses),
    onFailure: (error) => log.warn({ err: error }, 'the last use of sessions could not be written'),
  })
  const sessions = createSessions(deps)
  const localProvider = config.hasBundledProvider
    ? createLocalProvider({ backend, config, baseUrl, log, sessions, onRefused, users: createUsers(backend) })
    : undefined
  const withMint = { ...deps, mint: createMint(deps) }
  const mintGranted = createGrantedTokens(withMint)
  const limits = createWorkloadLimits(config.rates)
  const outgoingFetch = createOutgoingFetch()
  const recoveries = createRecoveryAnnouncer({
    ...backend,
    onFailure: (error) => log.warn({ err: error }, 'nodes that are healthy again could not be announced'),
  })
  const newIssuers = () => createIssuers({ fetch: createOutgoingFetch(), clock: backend.clock })
  const signingIn = { issuers: newIssuers(), newIssuers, callbackUrl: `${baseUrl}/v1/auth/callback` }
  const nodes = createNodes({ ...deps, onBack: (nodeIds) => recoveries.add(nodeIds) })
  return {
    surfaces: mountedAll({
      authz: createAuthz({ ...deps, writing: { ...deps, admission } }),
      relationTuples: createRelationTuples({ ...deps, admission }),
      tokens: createTokens(withMint),
      adminTokens: createAdminTokens(withMint),
      signIn: { ...NO_SIGN_IN, ...createSessionOperations(deps) },
      deviceFlow: undefined,
      serviceToken: createWorkloads({
        ...deps,
        mintGranted,
        limits,
        baseUrl,
        outgoingFetch,
        onRefreshFailure: reportRefreshFailure(log),
      }),
      idpBindings: createIdpBindings({ ...deps, ...signingIn, sessions }),
      invitations: createInvitations(deps),
      localAccounts: localProvider?.handlers,
      identities: createIdentities(deps),
      domains: createDomains(deps),
      projects: createProjects(deps),
      resources: createResources(deps),
      grants: createGrants(deps),
      groups: createGroups(deps),
      joinTokens: createJoinTokens(deps),
      nodes: nodes.handlers,
      signingKeys: createSigningKeys(deps),
      audit: createAudit(deps),
      meta: createMeta({ contract, renderer: readRenderer() }),
    }),
    resolvers: [
      createNskResolver(deps),
      createApiTokenResolver({ ...deps, lastUses: tokenUses, staleMs }),
      createJoinTokenResolver(deps),
      createSessionResolver({ ...deps, lastUses: sessionUses, staleMs }),
    ],
    csrfTokens: (sessionId) => sessions.csrfToken(sessionId),
    pages: [createHomePage()],
    foreignRoutes: localProvider === undefined ? [] : [localProvider.routes],
    drain: () => nodes.drain(),
    flush: async () => void (await Promise.all([tokenUses.flush(), sessionUses.flush(), recoveries.settled()])),
  }
}

const notProvisioned = (): never => {
  throw problem('sign_in_not_provisioned')
}

/** Sessions can be looked at and ended also where none can begin. */
const NO_SIGN_IN = { PostAuthSignIn: notProvisioned, GetAuthCallback: notProvisioned }

/** The handlers of every surface; one that is missing is a compile error. Undefined: not configured, answered with 501. */
type AllHandlers = {
  readonly [Name in keyof typeof contract]: Handlers<(typeof contract)[Name]> | undefined
}

function mountedAll(handlers: AllHandlers): readonly MountedSurface[] {
  const names = Object.keys(contract) as (keyof typeof contract)[]
  // `AllHandlers` has paired each surface with its handlers; a loop over names cannot say so.
  return names.map((name) => mounted<Surface>(contract[name], handlers[name] as Handlers<Surface> | undefined))
}
