import type { Db } from '../../../src/server/ports/datastore.ts'
import { canonicalize } from '../../../src/shared/canonical-json.ts'
import { parseSecretRef } from '../../../src/shared/bridges/secret-ref.ts'

export interface NamingBridge {
  readonly resourceId: string
  readonly domainId: string
  readonly projectId: string
  readonly hosts: readonly string[]
  /** References of its configuration. */
  readonly refs: readonly string[]
  /** References that only the table has, or only the text. */
  readonly untold?: readonly string[]
  readonly unnamed?: readonly string[]
}

/** Stores a bridge whose configuration names secrets, as the rows that a service would write. */
export async function storeNamingBridge(db: Db, bridge: NamingBridge): Promise<void> {
  const { resourceId, domainId, projectId, hosts, refs, untold = [], unnamed = [] } = bridge
  const at = new Date(0)
  const times = { created_at: at, updated_at: at }
  const place = { id: resourceId, domain_id: domainId, project_id: projectId }
  await db
    .insertInto('resources')
    .values({ ...place, kind: 'bridge', slug: `b-${resourceId}`, display_name: 'B', ...times })
    .execute()
  const ofResource = { resource_id: resourceId }
  for (const node_id of hosts)
    await db
      .insertInto('resource_hosts')
      .values({ ...ofResource, node_id })
      .execute()
  for (const [index, ref] of [...refs, ...untold].entries()) {
    const { name = '', version = null } = { ...parseSecretRef(ref) }
    const row = {
      ...ofResource,
      owner: `site-to-site/t${index}`,
      project_id: projectId,
      name,
      version: version ?? null,
    }
    await db.insertInto('bridge_secret_refs').values(row).execute()
  }
  const tunnels = [...refs, ...unnamed].map((ref) => ({ auth_secret_ref: ref }))
  await db
    .insertInto('bridge_configs')
    .values({ ...ofResource, domain_id: domainId, effective_config: canonicalize({ tunnels }), updated_at: at })
    .execute()
}
