import { sql } from 'kysely'
import type { Db } from '../ports/datastore.ts'
import type { StoredRules } from './event-template.ts'

/** A revision with the nodes that its policy matches by now, by id. */
export interface MatchedRevision extends StoredRules {
  readonly nodeIds: readonly string[]
}

/** Reads revisions with the nodes that match. Omits those that do not exist. */
export async function readRevisions(tx: Db, ids: readonly string[]): Promise<ReadonlyMap<string, MatchedRevision>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<RevisionRow>`
    select revision.id, revision.policy_id, revision.fingerprint, revision.rules,
      array(select node_id::text from policy_matches where policy_id = policy.id order by node_id) as node_ids
    from policy_revisions as revision join policies as policy on policy.id = revision.policy_id
    where revision.id = any(${ids}::uuid[])`.execute(tx)
  return new Map(
    rows.map(({ id, policy_id: policyId, fingerprint, rules, node_ids: nodeIds }) => [
      id,
      { policyId, revisionId: id, fingerprint, rules, nodeIds },
    ]),
  )
}

interface RevisionRow {
  readonly id: string
  readonly policy_id: string
  readonly fingerprint: string
  readonly rules: string
  readonly node_ids: readonly string[]
}

/** A policy and a node that it matches. */
interface PolicyMatch {
  readonly policy_id: string
  readonly node_id: string
}

/** Reads which of these nodes the policies match. */
export async function readMatchesAmong(
  tx: Db,
  policyIds: readonly string[],
  nodeIds: readonly string[],
): Promise<readonly PolicyMatch[]> {
  if (policyIds.length === 0 || nodeIds.length === 0) return []
  const { rows } = await sql<PolicyMatch>`
    select policy_id, node_id from policy_matches
    where policy_id = any(${policyIds}::uuid[]) and node_id = any(${nodeIds}::uuid[])`.execute(tx)
  return rows
}

/** Returns the ids that nodes are to apply, as their policies say. */
export async function revisionsInForce(tx: Db, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await tx
    .selectFrom('policies')
    .select('applied_revision_id')
    .where('applied_revision_id', 'in', ids)
    .execute()
  return rows.map(({ applied_revision_id }) => applied_revision_id)
}

/** A bridge resource: its configuration, its hosts, and the nodes that received the configuration. */
export interface Bridge {
  /** Canonical JSON; undefined if the bridge does not exist any more. */
  readonly config: string | undefined
  readonly hosts: readonly string[]
  readonly addressees: readonly string[]
}

export async function readBridges(tx: Db, resourceIds: readonly string[]): Promise<ReadonlyMap<string, Bridge>> {
  if (resourceIds.length === 0) return new Map()
  const { rows } = await sql<BridgeRow>`
    select asked.id, config.effective_config as config,
      array(select node_id::text from resource_hosts where resource_id = asked.id order by node_id) as hosts,
      array(select node_id::text from bridge_addressees where resource_id = asked.id order by node_id) as addressees
    from unnest(${resourceIds}::uuid[]) as asked (id)
    left join bridge_configs as config on config.resource_id = asked.id`.execute(tx)
  return new Map(rows.map((row) => [row.id, { ...row, config: row.config ?? undefined }]))
}

interface BridgeRow {
  readonly id: string
  readonly config: string | null
  readonly hosts: readonly string[]
  readonly addressees: readonly string[]
}

/** A node that received the configuration of a bridge resource. */
export interface BridgeAddressee {
  readonly resourceId: string
  readonly nodeId: string
}

/** Records the nodes that receive a configuration and deletes those that receive its end. Skips nodes without a lane. */
export async function updateAddressees(
  tx: Db,
  { added, removed }: { readonly added: readonly BridgeAddressee[]; readonly removed: readonly BridgeAddressee[] },
): Promise<void> {
  if (removed.length > 0)
    await sql`
      delete from bridge_addressees using unnest(
        ${removed.map(({ resourceId }) => resourceId)}::uuid[], ${removed.map(({ nodeId }) => nodeId)}::uuid[]
      ) as removed (resource_id, node_id)
      where bridge_addressees.resource_id = removed.resource_id and bridge_addressees.node_id = removed.node_id`.execute(
      tx,
    )
  if (added.length > 0)
    await sql`
      insert into bridge_addressees (resource_id, node_id)
      select added.resource_id, added.node_id from unnest(
        ${added.map(({ resourceId }) => resourceId)}::uuid[], ${added.map(({ nodeId }) => nodeId)}::uuid[]
      ) as added (resource_id, node_id)
      join node_lanes as lane on lane.node_id = added.node_id
      on conflict do nothing`.execute(tx)
}

/** A secret of a Project that has a new version since that outbox row. */
interface WrittenSecret {
  readonly seq: bigint
  readonly project_id: string
  readonly name: string
}

/** Reads the hosts of the bridges that name the secrets without a version, each once for an outbox row. */
export async function readSecretHosts(
  tx: Db,
  secrets: readonly WrittenSecret[],
): Promise<readonly { readonly seq: bigint; readonly nodeId: string }[]> {
  if (secrets.length === 0) return []
  const { rows } = await sql<{ seq: string; node_id: string }>`
    select distinct written.seq, host.node_id
    from unnest(
      ${secrets.map(({ seq }) => seq.toString())}::bigint[],
      ${secrets.map(({ project_id: projectId }) => projectId)}::uuid[],
      ${secrets.map(({ name }) => name)}::text[]
    ) as written (seq, project_id, name)
    join bridge_secret_refs as named
      on named.project_id = written.project_id and named.name = written.name and named.version is null
    join resource_hosts as host on host.resource_id = named.resource_id`.execute(tx)
  return rows.map(({ seq, node_id: nodeId }) => ({ seq: BigInt(seq), nodeId }))
}
