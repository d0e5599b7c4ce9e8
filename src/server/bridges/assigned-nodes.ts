import type { Db } from '../ports/datastore.ts'

/** The nodes whose effective label `platform/relay` names the bridge, ascending (decisions: assignments). */
export async function readAssignedNodes(_db: Db, _resourceId: string): Promise<readonly string[]> {
  return []
}
