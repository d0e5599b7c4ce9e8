import { parseSecretRef } from '../../../shared/bridges/secret-ref.ts'
import { outermost } from '../../../shared/bridges/subnet.ts'
import { problem } from '../../../shared/problems.ts'
import type { PartName } from '../../bridges/bridge-parts.ts'
import type { Bridge } from '../../bridges/find-bridge.ts'
import { subnetSpanOf } from '../../bridges/subnet-span.ts'
import type { Db } from '../../ports/datastore.ts'
import { conflictsAs } from '../../sql/unique.ts'

/** What a constraint says of the part that holds a claim: only the validator, which is asked before, knows its name. */
export const ANOTHER_PART = { conflicts_with: 'another part' } as const

/** Claims a port of the hosts for a part, in the place of the one that it has. @throws Problem `bridge_port_conflict`. */
export async function claimPort(
  db: Db,
  { resourceId }: Bridge,
  { owner, port }: { readonly owner: PartName; readonly port: number },
): Promise<void> {
  await releasePort(db, resourceId, owner)
  const claim = { resource_id: resourceId, listen_port: port, owner }
  await conflictsAs(db.insertInto('bridge_listen_ports').values(claim).execute(), {
    bridge_listen_ports_pkey: (cause) => problem('bridge_port_conflict', { port, ...ANOTHER_PART }, cause),
  })
}

/** Releases the port of a part. */
export async function releasePort(db: Db, resourceId: string, owner: PartName): Promise<void> {
  await db.deleteFrom('bridge_listen_ports').where('resource_id', '=', resourceId).where('owner', '=', owner).execute()
}

/** Claims the subnets of a tunnel, in the place of those that it has. @throws Problem `subnet_overlap_with_tunnel`. */
export async function claimSubnets(
  db: Db,
  { resourceId }: Bridge,
  { slug, subnets }: { readonly slug: string; readonly subnets: readonly string[] },
): Promise<void> {
  await db.deleteFrom('bridge_tunnel_subnets').where('resource_id', '=', resourceId).where('slug', '=', slug).execute()
  const claims = outermost(subnets).map((subnet) => ({
    resource_id: resourceId,
    slug,
    span: subnetSpanOf(resourceId, subnet),
  }))
  const [subnet = ''] = subnets
  await conflictsAs(db.insertInto('bridge_tunnel_subnets').values(claims).execute(), {
    bridge_tunnel_subnets_span_excl: (cause) =>
      problem('subnet_overlap_with_tunnel', { subnet, ...ANOTHER_PART }, cause),
  })
}

/**
 * Records the secret that a part names, in the place of the one that it named; none where the text is no reference. A secret
 * that exists is kept from being deleted until the transaction ends.
 */
export async function referToSecret(
  db: Db,
  { resourceId, projectId }: Bridge,
  { owner, text }: { readonly owner: PartName; readonly text: string | null },
): Promise<void> {
  await forgetSecret(db, resourceId, owner)
  const ref = text === null ? undefined : parseSecretRef(text)
  if (ref === undefined) return
  const { name, version = null } = ref
  await db
    .selectFrom('project_secrets')
    .select('id')
    .where('project_id', '=', projectId)
    .where('name', '=', name)
    .forKeyShare()
    .execute()
  const row = { resource_id: resourceId, owner, project_id: projectId, name, version }
  await db.insertInto('bridge_secret_refs').values(row).execute()
}

/** Deletes the reference of a part to a secret. */
export async function forgetSecret(db: Db, resourceId: string, owner: PartName): Promise<void> {
  await db.deleteFrom('bridge_secret_refs').where('resource_id', '=', resourceId).where('owner', '=', owner).execute()
}
