import type { Logger } from 'pino'
import { contract } from '../../shared/contract/index.ts'
import type { Surface } from '../../shared/contract/operation.ts'
import { storedSubjects } from '../adapters/stored-subjects/stored-subjects.ts'
import { createAudit } from '../slices/audit/service.ts'
import { createAuthz } from '../slices/authz/service.ts'
import type { Backend } from './backend.ts'
import type { Config } from '../config/config.ts'
import { readRenderer } from './docs-renderer.ts'
import { createDomains } from '../slices/domains/service.ts'
import { createExecutions } from '../slices/executions/service.ts'
import { createGrants } from '../slices/grants/service.ts'
import { createGroups } from '../slices/groups/service.ts'
import type { CsrfTokens } from '../http/auth/csrf.ts'
import { createLastUses } from '../http/auth/last-uses.ts'
import type { ForeignRoutes, Page } from '../http/pages/pages.ts'
import { mounted, type Handlers, type MountedSurface } from '../http/request-context.ts'
import { createOwnedTokens } from '../slices/tokens/owned-tokens.ts'
import { createIdentities } from '../slices/identities/service.ts'
import { createJoinTokenResolver } from '../slices/join-tokens/join-token-resolver.ts'
import { createJoinTokens } from '../slices/join-tokens/service.ts'
import type { PasswordHashing } from '../slices/local-accounts/password-hash.ts'
import { createMediatedSessions } from '../slices/mediated-sessions/service.ts'
import { createMeshKeys } from '../slices/mesh-keys/service.ts'
import { createMesh } from '../slices/mesh/service.ts'
import { createMeta } from '../slices/meta/service.ts'
import type { StreamMeter } from '../slices/node-events/hub.ts'
import { createNodeEvents } from '../slices/node-events/service.ts'
import { createNodeObservations } from '../slices/node-observations/service.ts'
import { createNodeState } from '../slices/node-state/service.ts'
import { createNskResolver } from '../slices/nodes/nsk-resolver.ts'
import { createRecoveryAnnouncer } from '../slices/nodes/recovery-announcer.ts'
import { createNodes } from '../slices/nodes/service.ts'
import type { CredentialResolver } from '../ports/credential-resolver.ts'
import type { AuditEntry } from '../ports/unit-of-work.ts'
import { createProjects } from '../slices/projects/service.ts'
import { createAdmission } from '../slices/relation-tuples/admission.ts'
import { createRelationTuples } from '../slices/relation-tuples/service.ts'
import { createResources } from '../slices/resources/service.ts'
import { writeServiceSignIns } from '../slices/identities/store.ts'
import { writeUses as writeSessionUses } from '../slices/sessions/store.ts'
import { createSigningIn } from './auth-composition.ts'
import { createSigningKeys } from '../slices/signing-keys/service.ts'
import { createAdminTokens } from '../slices/tokens/admin-service.ts'
import { createApiTokenResolver } from '../slices/tokens/api-token-resolver.ts'
import { writeUses as writeTokenUses } from '../slices/tokens/store.ts'
import { createGrantedTokens } from '../slices/tokens/granted.ts'
import { createMint } from '../slices/tokens/mint.ts'
import { createTokens } from '../slices/tokens/service.ts'

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
  /** Begins to follow what the services are told of: the event bus. Rejects never. */
  start(): Promise<void>
  /** Answers what waits for a batch; later calls of that kind are refused. */
  drain(): Promise<void>
  /** Writes what was gathered. */
  flush(): Promise<void>
}

export interface ServicesOptions {
  readonly config: Config
  /** Of the passwords of local accounts. */
  readonly hashing: PasswordHashing
  readonly log: Logger
  /** The origin under which clients reach the server. */
  readonly baseUrl: string
  /** Takes the audit rows of refusals that no answer waits for. */
  readonly onRefused: (entry: AuditEntry) => void
  /** Counts event streams; nobody by default. */
  readonly streamMeter?: StreamMeter | undefined
}

const UNMETERED: StreamMeter = { opened() {}, frame() {}, ended() {}, rejected() {} }

/** Makes the services over the backend. Subscribes their caches to the change feed, which must not run yet. */
export function createServices(backend: Backend, options: ServicesOptions): Services {
  const { config, log } = options
  const { env } = config
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
  const workloadSignIns = createLastUses({
    write: (uses) => writeServiceSignIns(backend.datastore.pool('worker'), uses),
    onFailure: (error) => log.warn({ err: error }, 'the last sign-in of service identities could not be written'),
  })
  const withMint = { ...deps, mint: createMint(deps) }
  const signingIn = createSigningIn({
    ...options,
    backend,
    mintGranted: createGrantedTokens(withMint),
    sessionUses,
    workloadSignIns,
  })
  const recoveries = createRecoveryAnnouncer({
    ...backend,
    onFailure: (error) => log.warn({ err: error }, 'nodes that are healthy again could not be announced'),
  })
  const nodes = createNodes({
    ...deps,
    onBack: (nodeIds) => recoveries.add(nodeIds),
    onMarksFailure: (error) => log.warn({ err: error }, 'it could not be read how far the peers of nodes have changed'),
  })
  const nodeState = createNodeState({
    ...backend,
    ...config,
    onFailure: (error) => log.warn({ err: error }, 'what nodes have pulled could not be stored'),
  })
  const nodeEvents = createNodeEvents({ ...backend, log, meter: options.streamMeter ?? UNMETERED })
  const uses = [tokenUses, sessionUses, workloadSignIns]
  return {
    surfaces: mountedAll({
      authz: createAuthz({ ...deps, writing: { ...deps, admission } }),
      relationTuples: createRelationTuples({ ...deps, admission }),
      tokens: createTokens(withMint),
      adminTokens: createAdminTokens(withMint),
      ...signingIn.handlers,
      identities: createIdentities({ ...deps, ownedTokens: createOwnedTokens() }),
      domains: createDomains(deps),
      projects: createProjects(deps),
      resources: createResources(deps),
      grants: createGrants(deps),
      groups: createGroups(deps),
      joinTokens: createJoinTokens(deps),
      nodes: nodes.handlers,
      nodeEvents: nodeEvents.handlers,
      nodeState: nodeState.handlers,
      nodeObservations: createNodeObservations(deps),
      executions: createExecutions(deps),
      mediatedSessions: createMediatedSessions({ ...deps, baseUrl: options.baseUrl }),
      meshKeys: createMeshKeys(deps),
      mesh: createMesh(deps),
      signingKeys: createSigningKeys(deps),
      audit: createAudit(deps),
      meta: createMeta({ contract, renderer: readRenderer() }),
    }),
    resolvers: [
      createNskResolver(deps),
      createApiTokenResolver({ ...deps, lastUses: tokenUses }),
      createJoinTokenResolver(deps),
      ...signingIn.resolvers,
    ],
    csrfTokens: signingIn.csrfTokens,
    pages: signingIn.pages,
    foreignRoutes: signingIn.foreignRoutes,
    start: async () => void (await Promise.all([nodeEvents.start(), nodes.start()])),
    drain: () => nodes.drain(),
    flush: async () =>
      void (await Promise.all([
        nodeEvents.stop(),
        ...uses.map((each) => each.flush()),
        recoveries.settled(),
        nodeState.settled(),
      ])),
  }
}

/** The handlers of every surface; one that is missing is a compile error. Undefined: not configured, answered with 501. */
type AllHandlers = {
  readonly [Name in keyof typeof contract]: Handlers<(typeof contract)[Name]> | undefined
}

function mountedAll(handlers: AllHandlers): readonly MountedSurface[] {
  const names = Object.keys(contract) as (keyof typeof contract)[]
  // `AllHandlers` has paired each surface with its handlers; a loop over names cannot say so.
  return names.map((name) => mounted<Surface>(contract[name], handlers[name] as Handlers<Surface> | undefined))
}
