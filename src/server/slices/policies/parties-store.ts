import { sql } from 'kysely'
import type { PolicyDocument } from '../../../shared/policies/policy-document.ts'
import type { CompiledEntry } from '../../../shared/policies/rule-types.ts'
import type { Db } from '../../ports/datastore.ts'

/** A policy in force, as verdicts need it. */
export interface PolicyInForce {
  readonly id: string
  readonly slug: string
  readonly document: PolicyDocument
  readonly entries: readonly CompiledEntry[]
}

/** Reads the policies in force of a Domain, by id. */
export async function readPoliciesInForce(db: Db, domainId: string): Promise<readonly PolicyInForce[]> {
  const rows = await db
    .selectFrom('policies')
    .innerJoin('policy_revisions as revision', 'revision.id', 'policies.revision_id')
    .select(['policies.id', 'policies.slug', 'revision.document', 'revision.rules'])
    .where('policies.domain_id', '=', domainId)
    .orderBy('policies.id')
    .execute()
  // Rules are written by the compiler alone.
  return rows.map(({ rules, ...policy }) => ({ ...policy, entries: JSON.parse(rules) as CompiledEntry[] }))
}

/** A node with the policies that match it and its groups. */
export interface NodeParty {
  readonly id: string
  readonly name: string
  readonly projectId: string | null
  readonly meshAddress: string
  /** `{1,2}`, ascending. */
  readonly groups: string
  /** Indexes of policies, ascending: `0,4`; empty where none matches. */
  readonly policies: string
}

/**
 * Reads nodes of a Domain by id. Policies are given as indexes of `policyIds`, in text: ids of ten thousand nodes would take
 * most of the time of a write.
 */
export async function readNodeParties(
  db: Db,
  domainId: string,
  { policyIds, nodeIds }: { readonly policyIds: readonly string[]; readonly nodeIds?: readonly string[] },
): Promise<readonly NodeParty[]> {
  const { rows } = await sql<PartyRow>`
    select node.id, node.name, node.project_id, node.mesh_address, node.policy_groups::text as groups,
      coalesce(matched.policies, '') as policies
    from nodes as node left join (
      select one.node_id, string_agg((policy.place - 1)::text, ',' order by policy.place) as policies
      from unnest(${policyIds}::uuid[]) with ordinality as policy (id, place)
      join policy_matches as one on one.policy_id = policy.id
      where ${nodeIds === undefined} or one.node_id = any(${nodeIds ?? []}::uuid[])
      group by one.node_id
    ) as matched on matched.node_id = node.id
    where node.domain_id = ${domainId} and (${nodeIds === undefined} or node.id = any(${nodeIds ?? []}::uuid[]))
    order by node.id`.execute(db)
  return rows.map(({ project_id: projectId, mesh_address: meshAddress, ...node }) => ({
    ...node,
    projectId,
    meshAddress,
  }))
}

interface PartyRow {
  readonly id: string
  readonly name: string
  readonly project_id: string | null
  readonly mesh_address: string
  readonly groups: string
  readonly policies: string
}
