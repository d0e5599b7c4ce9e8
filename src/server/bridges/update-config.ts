import { sql } from 'kysely'
import { problem } from '../../shared/problems.ts'
import type { Db } from '../ports/datastore.ts'
import type { OutboxLiteral } from '../ports/outbox-events.ts'
import type { Change } from '../ports/unit-of-work.ts'
import { ownStateChanged } from '../sql/state-revisions.ts'
import { readAssignedNodes } from './assigned-nodes.ts'
import type { PartName } from './bridge-parts.ts'
import { fittingConfigOf } from './effective-config.ts'
import { readParts } from './read-parts.ts'

/** A bridge whose row the transaction holds. */
export interface HeldBridge {
  readonly resourceId: string
  readonly domainId: string
}

/** The seven literals of bridges. */
export type BridgeLiteral = Extract<OutboxLiteral, `bridge.${string}`>

/**
 * Builds the effective configuration of a bridge from its rows, stores it where it differs, and raises the revision of its
 * hosts' state. Gives whether it differs. Call it with the resource's row locked for update, after the rows changed.
 * @throws Problem `bridge_limit_exceeded` where it is longer than 512 KiB.
 */
export async function storeConfig(change: Change, bridge: HeldBridge, at: Date): Promise<boolean> {
  return (await storeConfigs(change, [bridge], at)).length > 0
}

/** Does so with several bridges, all of whose rows are locked. Gives those whose configuration differs. */
export async function storeConfigs<Held extends HeldBridge>(
  { db }: Change,
  bridges: readonly Held[],
  at: Date,
): Promise<readonly Held[]> {
  const changed: Held[] = []
  for (const bridge of bridges) if (await replaceConfig(db, bridge, at)) changed.push(bridge)
  // In one statement: rows of hosts are locked in the order of their ids.
  const hosts = new Set<string>()
  for (const { resourceId } of changed) for (const id of await readHosts(db, resourceId)) hosts.add(id)
  await ownStateChanged(db, [...hosts])
  return changed
}

async function replaceConfig(db: Db, bridge: HeldBridge, at: Date): Promise<boolean> {
  const { resourceId, domainId } = bridge
  const parts = await readParts(db, resourceId)
  const surroundings = {
    assignedNodeIds: parts.relay === undefined ? [] : await readAssignedNodes(db, resourceId),
    targetIds: await readTargets(db, resourceId, domainId),
  }
  const config = fittingConfigOf(parts, surroundings)
  if (config === undefined) throw problem('bridge_limit_exceeded', { limit: '512 KiB of configuration' })
  const { numAffectedRows = 0n } = await sql`
    insert into bridge_configs (resource_id, domain_id, effective_config, updated_at)
    values (${resourceId}, ${domainId}, ${config}, ${at})
    on conflict (resource_id) do update set effective_config = excluded.effective_config, updated_at = excluded.updated_at
    where bridge_configs.effective_config <> excluded.effective_config`.execute(db)
  return numAffectedRows > 0n
}

/** Announces a change of a bridge to its present and former hosts. */
export function announceBridge(
  change: Change,
  { resourceId, domainId }: HeldBridge,
  { literal, part }: { readonly literal: BridgeLiteral; readonly part: PartName },
): void {
  const [, slug = ''] = part.split('/')
  const payload = { bridge_resource_id: resourceId, aggregate_id: `${resourceId}/${part}`, slug }
  change.emit({ event: literal, domainId, aggregate: `resource:${resourceId}`, payload })
}

/** The nodes that host the resource, ascending. */
export async function readHosts(db: Db, resourceId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('resource_hosts')
    .select('node_id')
    .where('resource_id', '=', resourceId)
    .orderBy('node_id')
    .execute()
  return rows.map(({ node_id }) => node_id)
}

/** Those of the ingress targets that are nodes of the Domain. */
async function readTargets(db: Db, resourceId: string, domainId: string): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('bridge_ingress_rules as rule')
    .innerJoin('nodes', 'nodes.id', 'rule.target_node_id')
    .select('nodes.id')
    .where('rule.resource_id', '=', resourceId)
    .where('nodes.domain_id', '=', domainId)
    .execute()
  return new Set(rows.map(({ id }) => id))
}
