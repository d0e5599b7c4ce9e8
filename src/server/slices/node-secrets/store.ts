import { sql } from 'kysely'
import type { SecretRef } from '../../../shared/bridges/secret-ref.ts'
import type { Db } from '../../ports/datastore.ts'
import type { NamedSecret } from '../../ports/project-secrets.ts'

/** A reference, as text and read. */
export interface WantedSecret {
  readonly nodeId: string
  readonly ref: string
  readonly named: SecretRef
}

/**
 * Finds the secret of a reference that the effective configuration of a bridge on the node names, the version included;
 * undefined where none does. The text alone proves nothing: an operator may write any text into a routing policy.
 */
export async function findNamedSecret(
  db: Db,
  { nodeId, ref, named: { domain, project, name, version } }: WantedSecret,
): Promise<NamedSecret | undefined> {
  const found = await db
    .selectFrom('resource_hosts as host')
    .innerJoin('bridge_secret_refs as named', 'named.resource_id', 'host.resource_id')
    .innerJoin('bridge_configs as config', 'config.resource_id', 'host.resource_id')
    .innerJoin('projects', 'projects.id', 'named.project_id')
    .innerJoin('domains', 'domains.id', 'projects.domain_id')
    .select('named.project_id as projectId')
    .where('host.node_id', '=', nodeId)
    .where('named.name', '=', name)
    .where('named.version', version === undefined ? 'is' : '=', version ?? null)
    .where('projects.slug', '=', project)
    .where('domains.slug', '=', domain)
    .where(sql<boolean>`position(${JSON.stringify(ref)} in config.effective_config) > 0`)
    .limit(1)
    .executeTakeFirst()
  return found && { projectId: found.projectId, name, version }
}
