import type { Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { Tables } from '../../ports/tables/tables.ts'
import { hostReportKey } from '../../../shared/bridges/host-report.ts'

type Resource = Pick<Selectable<Tables['resources']>, 'id' | 'kind' | 'domain_id' | 'project_id'>

/** Finds a resource of a Project. */
export function findResource(
  db: Db,
  { projectId, resourceId }: { readonly projectId: string; readonly resourceId: string },
): Promise<Resource | undefined> {
  return db
    .selectFrom('resources')
    .select(['id', 'kind', 'domain_id', 'project_id'])
    .where('id', '=', resourceId)
    .where('project_id', '=', projectId)
    .executeTakeFirst()
}

/** What the hosts of a bridge are to run. */
export function findConfig(
  db: Db,
  resourceId: string,
): Promise<Pick<Selectable<Tables['bridge_configs']>, 'effective_config' | 'updated_at'> | undefined> {
  return db
    .selectFrom('bridge_configs')
    .select(['effective_config', 'updated_at'])
    .where('resource_id', '=', resourceId)
    .executeTakeFirst()
}

/** A version of a secret of a Project. */
interface Version {
  readonly name: string
  readonly version: number
}

/** The versions of those secrets of a Project that exist. */
export async function listVersions(db: Db, projectId: string, names: readonly string[]): Promise<readonly Version[]> {
  if (names.length === 0) return []
  return db
    .selectFrom('project_secrets as secret')
    .innerJoin('project_secret_versions as version', 'version.secret_id', 'secret.id')
    .select(['secret.name', 'version.version'])
    .where('secret.project_id', '=', projectId)
    .where('secret.name', 'in', names)
    .execute()
}

/** A host of a bridge, with its state report of the bridge. */
interface Host {
  readonly node_id: string
  readonly name: string
  /** JSON; null without a report. */
  readonly value: string | null
  readonly reported_at: Date | null
  /** Address at which it is reached; null where none is known. */
  readonly address: string | null
}

/** The hosts of a bridge, ascending by id. */
export function listHosts(db: Db, resourceId: string): Promise<Host[]> {
  return db
    .selectFrom('resource_hosts as host')
    .innerJoin('nodes as node', 'node.id', 'host.node_id')
    .leftJoin('node_state_reports as report', (join) =>
      join.onRef('report.node_id', '=', 'host.node_id').on('report.key', '=', hostReportKey(resourceId)),
    )
    .leftJoin('node_endpoints as endpoint', 'endpoint.node_id', 'host.node_id')
    .select(['host.node_id', 'node.name', 'report.value', 'report.updated_at as reported_at'])
    .select('endpoint.last_endpoint as address')
    .where('host.resource_id', '=', resourceId)
    .orderBy('host.node_id')
    .execute()
}
