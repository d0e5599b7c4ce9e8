import { problem } from '../../../shared/problems.ts'
import type { IngressRule } from '../../bridges/bridge-parts.ts'
import type { Bridge } from '../../bridges/find-bridge.ts'
import type { HeldBridge } from '../../bridges/update-config.ts'
import type { Db } from '../../ports/datastore.ts'
import { conflictsAs, type Conflicts } from '../../sql/unique.ts'
import { ANOTHER_PART, forgetSecret, referToSecret } from './claims.ts'
import { nameOf, type PartKey, type Revised, type Stored } from './part-kind.ts'

function conflictsOf({ target_port: port }: Pick<IngressRule, 'target_port'>): Conflicts {
  return {
    bridge_ingress_rules_pkey: 'slug_conflict',
    bridge_ingress_rules_host_key: 'slug_conflict',
    bridge_ingress_rules_target_key: (cause) => problem('bridge_port_conflict', { port, ...ANOTHER_PART }, cause),
  }
}

export function listIngress(db: Db, resourceId: string): Promise<Stored<IngressRule>[]> {
  return db
    .selectFrom('bridge_ingress_rules')
    .selectAll()
    .where('resource_id', '=', resourceId)
    .orderBy('slug')
    .execute()
}

export function findIngress(db: Db, { resource_id, slug }: PartKey): Promise<Stored<IngressRule> | undefined> {
  return db
    .selectFrom('bridge_ingress_rules')
    .selectAll()
    .where('resource_id', '=', resource_id)
    .where('slug', '=', slug)
    .executeTakeFirst()
}

export async function insertIngress(db: Db, row: Stored<IngressRule>): Promise<Stored<IngressRule>> {
  await conflictsAs(db.insertInto('bridge_ingress_rules').values(row).execute(), conflictsOf(row))
  return row
}

export function updateIngress(
  db: Db,
  { resource_id, slug, ...row }: Revised<IngressRule>,
): Promise<Stored<IngressRule> | undefined> {
  const write = db
    .updateTable('bridge_ingress_rules')
    .set(row)
    .where('resource_id', '=', resource_id)
    .where('slug', '=', slug)
    .returningAll()
    .executeTakeFirst()
  return conflictsAs(write, conflictsOf(row))
}

export async function removeIngress(db: Db, { resource_id, slug }: PartKey): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('bridge_ingress_rules')
    .where('resource_id', '=', resource_id)
    .where('slug', '=', slug)
    .executeTakeFirst()
  await forgetSecret(db, resource_id, nameOf('ingress', slug))
  return numDeletedRows > 0n
}

/** A target is claimed by its row. */
export async function claimIngress(db: Db, bridge: Bridge, value: IngressRule): Promise<void> {
  await referToSecret(db, bridge, { owner: nameOf('ingress', value.slug), text: value.acme_account_ref })
}

/** The bridges that have an ingress rule to one of the nodes, in the order of their ids. */
export async function bridgesWithTargets(db: Db, nodeIds: readonly string[]): Promise<HeldBridge[]> {
  const rows = await db
    .selectFrom('bridge_ingress_rules as rule')
    .innerJoin('resources', 'resources.id', 'rule.resource_id')
    .select(['rule.resource_id', 'resources.domain_id'])
    .distinct()
    .where('rule.target_node_id', 'in', nodeIds)
    .orderBy('rule.resource_id')
    .execute()
  return rows.map(({ resource_id: resourceId, domain_id: domainId }) => ({ resourceId, domainId }))
}
