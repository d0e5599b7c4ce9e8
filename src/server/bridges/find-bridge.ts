import { problem } from '../../shared/problems.ts'
import type { Db } from '../ports/datastore.ts'
import type { HeldBridge } from './update-config.ts'

/** A resource as paths of bridges name it. */
export interface BridgePlace {
  readonly projectId: string
  readonly resourceId: string
}

/** A resource of kind bridge, with what its configuration depends on. None of it changes while the resource exists. */
export interface Bridge extends HeldBridge {
  readonly projectId: string
  readonly projectSlug: string
  readonly domainSlug: string
  /** The mesh network of the Domain. */
  readonly meshCidr: string
}

/**
 * Reads the bridge.
 * @throws Problem `resource_not_found` where the Project has no such resource, `resource_not_bridge` where it is of another kind.
 */
export async function findBridge(db: Db, place: BridgePlace): Promise<Bridge> {
  const { projectId, resourceId } = place
  const found = await db
    .selectFrom('resources')
    .innerJoin('projects', 'projects.id', 'resources.project_id')
    .innerJoin('domains', 'domains.id', 'resources.domain_id')
    .select(['resources.kind', 'resources.domain_id', 'projects.slug as project_slug'])
    .select(['domains.slug as domain_slug', 'domains.mesh_cidr'])
    .where('resources.id', '=', resourceId)
    .where('resources.project_id', '=', projectId)
    .executeTakeFirst()
  if (found === undefined) throw problem('resource_not_found')
  if (found.kind !== 'bridge') throw problem('resource_not_bridge')
  const { domain_id: domainId, project_slug: projectSlug, domain_slug: domainSlug, mesh_cidr: meshCidr } = found
  return { resourceId, domainId, projectId, projectSlug, domainSlug, meshCidr }
}

/** Locks the row of a resource, so that its bridge is changed by one caller at a time; false where it does not exist. */
export async function lockBridge(db: Db, resourceId: string): Promise<boolean> {
  const row = await db.selectFrom('resources').select('id').where('id', '=', resourceId).forUpdate().executeTakeFirst()
  return row !== undefined
}
