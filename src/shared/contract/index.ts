import { adminTokens } from './admin-tokens.ts'
import { audit } from './audit.ts'
import { authz } from './authz.ts'
import { domains } from './domains.ts'
import { grants } from './grants.ts'
import { groups } from './groups.ts'
import { identities } from './identities.ts'
import { joinTokens } from './join-tokens.ts'
import { meta } from './meta.ts'
import { nodes } from './nodes.ts'
import { projects } from './projects.ts'
import { relationTuples } from './relation-tuples.ts'
import { resources } from './resources.ts'
import { signingKeys } from './signing-keys.ts'
import { tokens } from './tokens.ts'

/** Every surface of the API: the only list. */
export const contract = {
  authz,
  relationTuples,
  tokens,
  adminTokens,
  identities,
  domains,
  projects,
  resources,
  grants,
  groups,
  joinTokens,
  nodes,
  signingKeys,
  audit,
  meta,
} as const
