import type { Logger } from 'pino'
import { contract } from '../shared/contract/index.ts'
import { storedSubjects } from './adapters/stored-subjects/stored-subjects.ts'
import { createAudit } from './audit/service.ts'
import { createAuthz } from './authz/service.ts'
import type { Backend } from './backend.ts'
import { createDomains } from './domains/service.ts'
import { createGrants } from './grants/service.ts'
import { createGroups } from './groups/service.ts'
import { mounted, type MountedSurface } from './http/request-context.ts'
import { createIdentities } from './identities/service.ts'
import { createJoinTokenResolver } from './join-tokens/join-token-resolver.ts'
import { createJoinTokens } from './join-tokens/service.ts'
import { createMeta } from './meta/service.ts'
import { createNskResolver } from './nodes/nsk-resolver.ts'
import { createNodes } from './nodes/service.ts'
import type { CredentialResolver } from './ports/credential-resolver.ts'
import { createProjects } from './projects/service.ts'
import { createResources } from './resources/service.ts'
import { createAdminTokens } from './tokens/admin-service.ts'
import { createApiTokenResolver } from './tokens/api-token-resolver.ts'
import { createLastUsed } from './tokens/last-used.ts'
import { createMint } from './tokens/mint.ts'
import { createTokens } from './tokens/service.ts'

/** Every surface with its handlers, and what has to be ended with them. */
export interface Services {
  readonly surfaces: readonly MountedSurface[]
  /** In the order in which they are tried. */
  readonly resolvers: readonly CredentialResolver[]
  /** Answers what waits for a batch; later calls of that kind are refused. */
  drain(): Promise<void>
  /** Writes what was gathered. */
  flush(): Promise<void>
}

/** Makes the services over the backend. Subscribes their caches to the change feed, which must not run yet. */
export function createServices(
  backend: Backend,
  { env, log }: { readonly env: string; readonly log: Logger },
): Services {
  const deps = { ...backend, env, subjects: storedSubjects, changeFeed: backend.feed }
  const lastUsed = createLastUsed({
    datastore: backend.datastore,
    onFailure: (error) => log.warn({ err: error }, 'the last use of tokens could not be written'),
  })
  const withMint = { ...deps, mint: createMint(deps) }
  const nodes = createNodes(deps)
  return {
    surfaces: [
      mounted(contract.authz, createAuthz(deps)),
      mounted(contract.tokens, createTokens(withMint)),
      mounted(contract.adminTokens, createAdminTokens(withMint)),
      mounted(contract.identities, createIdentities(deps)),
      mounted(contract.domains, createDomains(deps)),
      mounted(contract.projects, createProjects(deps)),
      mounted(contract.resources, createResources(deps)),
      mounted(contract.grants, createGrants(deps)),
      mounted(contract.groups, createGroups(deps)),
      mounted(contract.joinTokens, createJoinTokens(deps)),
      mounted(contract.nodes, nodes.handlers),
      mounted(contract.audit, createAudit(deps)),
      mounted(contract.meta, createMeta({ contract })),
    ],
    resolvers: [createNskResolver(deps), createApiTokenResolver({ ...deps, lastUsed }), createJoinTokenResolver(deps)],
    drain: () => nodes.drain(),
    flush: () => lastUsed.flush(),
  }
}
