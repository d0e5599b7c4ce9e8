import type { Kind } from './kind.ts'
import { approvalPolicy } from './kinds/approval-policy.ts'
import { domain } from './kinds/domain.ts'
import { grants } from './kinds/grants.ts'
import { group } from './kinds/group.ts'
import { labelDefinition } from './kinds/label-definition.ts'
import { node } from './kinds/node.ts'
import { policy } from './kinds/policy.ts'
import { project } from './kinds/project.ts'
import { resource } from './kinds/resource.ts'
import { secret } from './kinds/secret.ts'
import { serviceIdentity } from './kinds/service-identity.ts'

/** Every kind of objects that files have. Each one refers only to kinds before it: this is the order of reading and writing. */
export const KINDS: readonly Kind[] = [
  domain,
  project,
  labelDefinition,
  node,
  secret,
  resource,
  serviceIdentity,
  group,
  grants,
  policy,
  approvalPolicy,
]

/** The kind of that name. */
export function kindNamed(name: string): Kind | undefined {
  return KINDS.find((kind) => kind.name === name)
}
