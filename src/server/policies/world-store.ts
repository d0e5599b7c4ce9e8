import { CompiledQuery } from 'kysely'
import type { Db } from '../ports/datastore.ts'
import {
  WORLD_HEAD,
  WORLD_POLICY_IDS,
  WORLD_PREFERENCE,
  WORLD_RULES,
  worldChangesOf,
  type WorldHeadRow,
  type WorldNodeRow,
} from './world-columns.ts'
import type { WorldChanges } from './world.ts'

/** What decides who sees whom in a Domain, at a revision of its peers. */
export interface ReadWorld {
  readonly revision: number
  /** The changes since the revision that was asked for; undefined where all nodes see all others. */
  readonly changes: WorldChanges | undefined
}

/** Reads it in one statement. */
export async function readWorld(db: Db, domainId: string, since: number): Promise<ReadWorld> {
  const { rows } = await db.executeQuery<HeadRow | WorldNodeRow>(CompiledQuery.raw(WORLD, [domainId, since]))
  const [head] = rows
  if (head === undefined || head.id !== null) throw new Error('the first row is not that of the Domain')
  return { revision: Number(head.revision), changes: worldChangesOf(head, rows.filter(isNode)) }
}

const WORLD = `
  with head as (
    select ${WORLD_HEAD}
    from (values ($1::uuid)) as asked (domain_id)
    left join domains d on d.id = asked.domain_id
    left join domain_peers p on p.domain_id = asked.domain_id
  )
  select revision, is_whole, is_filtered, hops,
    case when is_filtered and is_whole then ${WORLD_RULES} end as rules,
    null::uuid as id, null::inet as mesh_address, null::integer[] as groups, null::text[] as policy_ids,
    null::uuid as bridge_id
  from head
  union all
  select null, null, null, null, null, n.id, n.mesh_address, n.policy_groups, ${WORLD_POLICY_IDS}, preferred.resource_id
  from head
  join nodes n
    on head.is_filtered and n.domain_id = $1::uuid
    and n.peer_revision > case when head.is_whole then -1 else $2::bigint end
  ${WORLD_PREFERENCE}
  order by id nulls first`

interface HeadRow extends WorldHeadRow {
  readonly id: null
}

function isNode(row: HeadRow | WorldNodeRow): row is WorldNodeRow {
  return row.id !== null
}
