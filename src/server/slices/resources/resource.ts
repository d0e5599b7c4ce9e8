import type { resources } from '../../../shared/contract/resources.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { ResourceRecord } from './store.ts'

type Operations = (typeof resources)['operations']
type ResourceAnswer = Result<Operations['GetResource']>

/** Kinds that the authorization model also knows as a type of their own; roles may be bound to either name. */
const OWN_TYPE: Readonly<Record<string, true>> = { network: true, workload: true }

/**
 * The names under which the authorization model knows a resource: `resource:<id>` always, and `network:<id>` or
 * `workload:<id>` besides for those kinds.
 */
export function referencesOf({ id, kind }: { readonly id: string; readonly kind: string }): string[] {
  return Object.hasOwn(OWN_TYPE, kind) ? [`resource:${id}`, `${kind}:${id}`] : [`resource:${id}`]
}

/** Node ids as they are stored: lower case, ascending, each once. */
export function normalizeHosts(nodeIds: readonly string[]): string[] {
  return [...new Set(nodeIds.map((id) => id.toLowerCase()))].toSorted()
}

/** The row as the API shows it. */
export function toAnswer(resource: ResourceRecord): ResourceAnswer {
  return {
    id: resource.id,
    domain_id: resource.domain_id,
    project_id: resource.project_id,
    kind: resource.kind,
    slug: resource.slug,
    display_name: resource.display_name,
    host_node_ids: resource.host_node_ids,
    created_at: resource.created_at.toISOString(),
    updated_at: resource.updated_at.toISOString(),
  }
}
