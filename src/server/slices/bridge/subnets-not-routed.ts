import type { Bridge } from '../../bridges/find-bridge.ts'
import { routableIn } from '../../bridges/routed-networks.ts'
import type { Routed } from '../../bridges/subnet-conflicts.ts'
import type { Db } from '../../ports/datastore.ts'
import type { ConflictAnswer } from './conflict-answer.ts'

/** The parts of a bridge with subnets that the Domain does not let bridges lead to: one conflict for each part, which names the first. */
export async function unroutedSubnetConflicts(
  db: Db,
  { domainId }: Bridge,
  routes: readonly Routed[],
): Promise<ConflictAnswer[]> {
  if (routes.length === 0) return []
  const domain = await db.selectFrom('domains').select('routed_networks').where('id', '=', domainId).executeTakeFirst()
  const isRoutable = routableIn(domain?.routed_networks ?? [])
  return routes.flatMap(({ part, subnets }) => {
    const [first, ...more] = subnets.filter((subnet) => !isRoutable(subnet))
    if (first === undefined) return []
    const others = more.length === 0 ? '' : ` (and ${more.length} more)`
    return {
      code: 'subnet_not_routed',
      part,
      conflicts_with: null,
      detail: `${first}${others} is outside of the routed networks of the Domain: its nodes do not reach it through this bridge.`,
    }
  })
}
