import type { Change } from '../../../src/server/ports/unit-of-work.ts'
import { visibilityChanged } from '../../../src/server/policies/visibility-changes.ts'
import { ownStateChanged, peersChanged } from '../../../src/server/sql/state-revisions.ts'
import { canonicalize } from '../../../src/shared/canonical-json.ts'
import { fingerprintOf } from '../../../src/shared/policies/fingerprint.ts'
import type { AcceptEntry, CompiledEntry, Direction } from '../../../src/shared/policies/rule-types.ts'
import type { Db } from '../../../src/server/ports/datastore.ts'
import type { IdSource } from '../../../src/server/ports/clock.ts'

export interface VisibilityFleet {
  readonly ids: IdSource
  readonly change: <T>(work: (change: Change) => Promise<T>) => Promise<T>
}

/** A policy as its rows say: the rules in force, and the nodes that it matches. */
export interface PolicyOfNodes {
  readonly id: string
  readonly rules: readonly CompiledEntry[]
  readonly nodeIds: readonly string[]
}

/** An entry that accepts every protocol with the groups, or as `parts` says. */
export function accepts(
  direction: Direction,
  groups: readonly number[],
  parts: Partial<AcceptEntry> = {},
): CompiledEntry {
  const entry = {
    action: 'accept',
    cidrs: [],
    direction,
    except_cidrs: [],
    except_groups: [],
    groups,
    ports: [],
  } as const
  return { ...entry, protocol: 'any', ...parts }
}

export const isolates = (direction: Direction): CompiledEntry => ({ action: 'isolate', direction })

/** Writes what decides who sees whom, as services do whose selectors have been evaluated. */
export function visibilityRows({ ids, change: run }: VisibilityFleet) {
  /** Puts the policy in force, or takes another set of nodes or rules into force. */
  async function policy(domainId: string, { id, rules, nodeIds }: PolicyOfNodes): Promise<void> {
    await run(async (change) => {
      const { db } = change
      await visibilityChanged(change, domainId)
      await ownStateChanged(db, [...new Set([...(await matchedBy(db, id)), ...nodeIds])])
      await putRevision(db, { id, domainId, revisionId: ids.next(), rules: canonicalize(rules) })
      await db.deleteFrom('policy_matches').where('policy_id', '=', id).execute()
      const matched = (await remaining(db, nodeIds)).map((node_id) => ({ policy_id: id, node_id }))
      if (matched.length > 0) await db.insertInto('policy_matches').values(matched).execute()
    })
  }

  async function withoutPolicy(domainId: string, id: string): Promise<void> {
    await run(async (change) => {
      await visibilityChanged(change, domainId)
      await ownStateChanged(change.db, await matchedBy(change.db, id))
      await change.db.deleteFrom('policies').where('id', '=', id).execute()
    })
  }

  /** Changes the groups of a node and the policies that match it, as a change of its labels does. */
  async function place(
    domainId: string,
    nodeId: string,
    { groups, policyIds }: { readonly groups: readonly number[]; readonly policyIds: readonly string[] },
  ): Promise<void> {
    await run(async (change) => {
      const { db } = change
      await peersChanged(db, domainId, [nodeId])
      await visibilityChanged(change, domainId, [nodeId])
      await ownStateChanged(db, [nodeId])
      await db
        .updateTable('nodes')
        .set({ policy_groups: [...groups] })
        .where('id', '=', nodeId)
        .execute()
      await db.deleteFrom('policy_matches').where('node_id', '=', nodeId).execute()
      const known = await db.selectFrom('policies').select('id').where('domain_id', '=', domainId).execute()
      const matching = (await remaining(db, [nodeId])).flatMap((node_id) =>
        policyIds.filter((id) => known.some((row) => row.id === id)).map((policy_id) => ({ policy_id, node_id })),
      )
      if (matching.length > 0) await db.insertInto('policy_matches').values(matching).execute()
    })
  }

  return { policy, withoutPolicy, place }
}

/** Those of the nodes that are still there, and stay until the change commits: others may be deregistered at the same time. */
async function remaining(db: Db, nodeIds: readonly string[]): Promise<readonly string[]> {
  if (nodeIds.length === 0) return []
  const rows = await db.selectFrom('nodes').select('id').where('id', 'in', nodeIds).forKeyShare().execute()
  return rows.map(({ id }) => id)
}

async function matchedBy(db: Db, policyId: string): Promise<readonly string[]> {
  const rows = await db.selectFrom('policy_matches').select('node_id').where('policy_id', '=', policyId).execute()
  return rows.map(({ node_id }) => node_id)
}

interface Revision {
  readonly id: string
  readonly domainId: string
  readonly revisionId: string
  readonly rules: string
}

async function putRevision(db: Db, { id, domainId, revisionId, rules }: Revision): Promise<void> {
  const at = new Date(0)
  const inForce = { revision_id: revisionId, applied_revision_id: revisionId }
  await db
    .insertInto('policies')
    .values({ id, domain_id: domainId, slug: id, ...inForce, created_at: at, updated_at: at })
    .onConflict((on) => on.column('id').doUpdateSet(inForce))
    .execute()
  const numbers = await db.selectFrom('policy_revisions').select('number').where('policy_id', '=', id).execute()
  await db
    .insertInto('policy_revisions')
    .values({
      id: revisionId,
      policy_id: id,
      domain_id: domainId,
      number: Math.max(0, ...numbers.map(({ number }) => number)) + 1,
      display_name: '',
      selector: '*',
      document: JSON.stringify({ selector: '*', rules: [], tests: [] }),
      rules,
      fingerprint: fingerprintOf(rules),
      created_by: 'user:somebody',
      created_at: at,
    })
    .execute()
}
