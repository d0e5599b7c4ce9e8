import type { Change } from '../ports/unit-of-work.ts'
import type { Db } from '../ports/datastore.ts'
import { ownStateChanged } from '../sql/state-revisions.ts'
import { readParts } from './read-parts.ts'
import { assertNone } from './refusal.ts'
import { announceBridge, readHosts, type HeldBridge } from './update-config.ts'
import { hostConflictsOf } from './validate.ts'

const CHANGED_HOSTS = { literal: 'bridge.RelayConfigured', part: 'relay' } as const

/**
 * Asserts that these nodes may host the bridge, whose row is locked.
 * @throws Problem `bridge_port_conflict` where an ingress rule has its target on a port on which one of them would listen.
 */
export async function assertHostable(db: Db, resourceId: string, nodeIds: readonly string[]): Promise<void> {
  assertNone(hostConflictsOf({ parts: await readParts(db, resourceId) }, nodeIds))
}

/**
 * Announces the changed hosts of a bridge that has a configuration, after they are stored: new hosts receive it, former ones
 * its end.
 */
export async function announceHosts(
  change: Change,
  bridge: HeldBridge,
  { former, present }: { readonly former: readonly string[]; readonly present: readonly string[] },
): Promise<void> {
  const moved = [...former.filter((id) => !present.includes(id)), ...present.filter((id) => !former.includes(id))]
  if (moved.length === 0 || !(await hasConfig(change.db, bridge.resourceId))) return
  await ownStateChanged(change.db, moved)
  announceBridge(change, bridge, CHANGED_HOSTS)
}

/**
 * Deletes the configuration of a bridge that is about to be deleted, whose row is locked. Its hosts receive the end: the nodes
 * that received the configuration are known after the resource is gone.
 */
export async function removeConfig(change: Change, bridge: HeldBridge): Promise<void> {
  const { resourceId } = bridge
  if (!(await hasConfig(change.db, resourceId))) return
  await ownStateChanged(change.db, await readHosts(change.db, resourceId))
  await change.db.deleteFrom('bridge_configs').where('resource_id', '=', resourceId).execute()
  announceBridge(change, bridge, CHANGED_HOSTS)
}

async function hasConfig(db: Db, resourceId: string): Promise<boolean> {
  const row = await db
    .selectFrom('bridge_configs')
    .select('resource_id')
    .where('resource_id', '=', resourceId)
    .executeTakeFirst()
  return row !== undefined
}
