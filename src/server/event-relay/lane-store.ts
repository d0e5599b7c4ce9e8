import { sql } from 'kysely'
import type { Db } from '../ports/datastore.ts'
import type { StateBlock } from '../../shared/events/wire-types.ts'
import type { PeerHint } from './peer-changes.ts'

/** A new node and the outbox row of its registration. */
export interface Opening {
  readonly nodeId: string
  readonly domainId: string
  readonly seq: bigint
}

/**
 * Opens a lane per node; existing lanes stay unchanged. A lane starts at the registration: the first pull covers
 * everything before.
 */
export async function openLanes(tx: Db, openings: readonly Opening[]): Promise<void> {
  if (openings.length === 0) return
  await sql`
    insert into node_lanes (node_id, domain_id, hinted_seq, hinted_at)
    select node_id, domain_id, min(seq), to_timestamp(0)
    from unnest(
      ${openings.map(({ nodeId }) => nodeId)}::uuid[],
      ${openings.map(({ domainId }) => domainId)}::uuid[],
      ${openings.map(({ seq }) => seq.toString())}::bigint[]
    ) as opening (node_id, domain_id, seq)
    group by node_id, domain_id
    on conflict (node_id) do nothing`.execute(tx)
}

/** Deletes lanes with their pending hints and outgoing events, because the nodes were deregistered. */
export async function closeLanes(tx: Db, nodeIds: readonly string[]): Promise<void> {
  if (nodeIds.length === 0) return
  await sql`
    with gone as (select unnest(${nodeIds}::uuid[]) as node_id),
      lanes as (delete from node_lanes using gone where node_lanes.node_id = gone.node_id),
      peers as (delete from pending_peers using gone where pending_peers.node_id = gone.node_id),
      hints as (delete from node_hints using gone where node_hints.node_id = gone.node_id),
      bridges as (delete from bridge_addressees using gone where bridge_addressees.node_id = gone.node_id)
    delete from outgoing_events using gone where outgoing_events.node_id = gone.node_id`.execute(tx)
}

/** A change of peers with the Domain whose nodes receive it. */
export type DomainHint = PeerHint & { readonly domainId: string }

export async function addPeerHints(tx: Db, hints: readonly DomainHint[]): Promise<void> {
  if (hints.length === 0) return
  const [peers, groups] = [hints.map(({ change }) => peerOf(change)), hints.map(({ change }) => groupOf(change))]
  await sql`
    insert into peer_hints (seq, domain_id, node_id, peer, group_change, former, is_narrow)
    select hint.*, case when domain.peer_visibility = 'reachable' then null else false end
    from unnest(
      ${hints.map(({ seq }) => seq.toString())}::bigint[],
      ${hints.map(({ domainId }) => domainId)}::uuid[],
      ${peers.map((peer) => peer?.node_id ?? null)}::uuid[],
      ${peers.map(jsonOf)}::jsonb[],
      ${groups.map(jsonOf)}::jsonb[],
      ${hints.map(({ former }) => jsonOf(former))}::jsonb[]
    ) as hint (seq, domain_id, node_id, peer, group_change, former)
    left join domains as domain on domain.id = hint.domain_id`.execute(tx)
}

function peerOf(change: PeerHint['change']) {
  return 'group' in change ? undefined : change
}

function groupOf(change: PeerHint['change']) {
  return 'group' in change ? change : undefined
}

function jsonOf(change: object | undefined): string | null {
  return change === undefined ? null : JSON.stringify(change)
}

/** A changed block of the node's own state. */
export interface OwnHint {
  readonly seq: bigint
  readonly nodeId: string
  readonly block: StateBlock
}

/** Stores hints for nodes that have a lane; drops the others. */
export async function addOwnHints(tx: Db, hints: readonly OwnHint[]): Promise<void> {
  if (hints.length === 0) return
  await sql`
    insert into node_hints (seq, node_id, block)
    select hint.* from unnest(
      ${hints.map(({ seq }) => seq.toString())}::bigint[],
      ${hints.map(({ nodeId }) => nodeId)}::uuid[],
      ${hints.map(({ block }) => block)}::text[]
    ) as hint (seq, node_id, block)
    join node_lanes using (node_id)`.execute(tx)
}

/** A change of who sees whom in a Domain, and the revision of its peers that the change raised. */
export interface VisibilityChange {
  readonly seq: bigint
  readonly domainId: string
  readonly revision: number
}

export async function addVisibilityChanges(tx: Db, changes: readonly VisibilityChange[]): Promise<void> {
  if (changes.length === 0) return
  await sql`
    insert into visibility_changes (seq, domain_id, revision)
    select * from unnest(
      ${changes.map(({ seq }) => seq.toString())}::bigint[],
      ${changes.map(({ domainId }) => domainId)}::uuid[],
      ${changes.map(({ revision }) => revision)}::bigint[]
    )`.execute(tx)
}

/** Number of lanes per Domain. */
export async function countLanes(tx: Db, domainIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ domain_id: string; lanes: number }>`
    select domain_id, count(*)::integer as lanes from node_lanes
    where domain_id = any(${domainIds}::uuid[]) group by domain_id`.execute(tx)
  return new Map(rows.map(({ domain_id, lanes }) => [domain_id, lanes]))
}
