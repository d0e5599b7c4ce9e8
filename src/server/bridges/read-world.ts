import type { Db } from '../ports/datastore.ts'
import type { Candidate } from './bridge-parts.ts'
import type { BridgeWorld } from './bridge-world.ts'
import type { Bridge } from './find-bridge.ts'
import { readParts } from './read-parts.ts'
import { readHosts } from './update-config.ts'

/** Reads what the validator needs of a bridge to judge these candidates. */
export async function readWorld(db: Db, bridge: Bridge, candidates: readonly Candidate[]): Promise<BridgeWorld> {
  const { resourceId, domainId, domainSlug, projectSlug, meshCidr } = bridge
  const parts = await readParts(db, resourceId)
  const wanted = candidates.flatMap((each) => (each.part === 'ingress' ? [each.value] : []))
  const targets = [...parts.ingress, ...wanted].map(({ target_node_id: id }) => id)
  return {
    domainSlug,
    projectSlug,
    meshCidr,
    hostIds: await readHosts(db, resourceId),
    targetIds: await nodesAmong(db, domainId, [...new Set(targets)]),
    parts,
  }
}

/** Those of the ids that are nodes of the Domain. */
async function nodesAmong(db: Db, domainId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const nodes = await db
    .selectFrom('nodes')
    .select('id')
    .where('domain_id', '=', domainId)
    .where('id', 'in', ids)
    .execute()
  return new Set(nodes.map(({ id }) => id))
}
