import { sql, type Selectable } from 'kysely'
import { problem } from '../../../shared/problems.ts'
import type { Db } from '../../ports/datastore.ts'
import type { JoinTokenRow } from '../../ports/tables/nodes.ts'
import { risenBy } from '../../sql/state-revisions.ts'
import { conflictsAs, type Conflicts } from '../../sql/unique.ts'
import { takeNumbers, type TakenNumbers } from './address-store.ts'
import type { NewSecretKey } from './secret-key-store.ts'

/** The terms of a join token for the nodes that join with it; fixed when it was created. */
export interface JoinTerms {
  readonly domainId: string
  readonly meshCidr: string
  readonly projectId: string | null
  /** The node that is enrolled again; null for a new one. */
  readonly nodeId: string | null
  readonly labels: Record<string, string>
  readonly ephemeral: boolean
  /** The subject that created the token, who gives its nodes their labels. */
  readonly createdBy: string
}

/** The facts that a node registers with, and its generated values. */
export interface Enrolment {
  readonly nodeId: string
  readonly kind: string
  readonly publicKey: Buffer
  readonly pskSealed: Buffer
  readonly pskIssuedAtNs: bigint
  readonly binaryVersion: string | null
  readonly binaryChecksum: Buffer | null
  readonly key: NewSecretKey
  readonly atMs: number
}

/** Where a new node is placed. */
export interface Placement {
  readonly name: string
  readonly meshAddress: string
}

const CONFLICTS: Conflicts = {
  nodes_domain_name_key: 'node_name_conflict',
  nodes_domain_public_key_key: 'public_key_in_use',
}

/** The terms of tokens that were used, by id, and for each Domain that gets new nodes the numbers of their addresses. */
export interface JoinUses {
  readonly terms: ReadonlyMap<string, JoinTerms>
  readonly taken: ReadonlyMap<string, TakenNumbers>
}

/**
 * Counts the uses of some tokens, given by id, under the tokens' row locks, and gives their terms: at most `max_uses`
 * callers of one succeed. After that it locks the pools of addresses of the Domains that get new nodes, in the same statement.
 * Rows of one kind are locked in one order.
 *
 * A token for a re-enrolment must be the only one, with one use: for it the Domain's peers are locked before, since a
 * deregistration locks them before it comes to the node's tokens, and no other token may be locked before another Domain's
 * peers.
 *
 * @throws Problem `join_token_exhausted`; `invalid_join_token` when it has expired, was revoked or was deleted. Of several uses
 *   it says no more than that one of them is not possible, or not beside the others.
 */
export async function countUses(tx: Db, uses: ReadonlyMap<string, number>, nowMs: number): Promise<JoinUses> {
  const now = new Date(nowMs)
  const ids = [...uses.keys()]
  const isAlone = [...uses.values()].reduce((sum, each) => sum + each, 0) === 1
  const { rows } = await sql<UsedRow>`
    with asked as (
      select * from unnest(${ids}::uuid[], ${[...uses.values()]}::integer[]) as asked (id, uses)
    ),
    held as (
      select from domain_peers as p join join_tokens as j on j.domain_id = p.domain_id
      where ${isAlone}::boolean and j.id = any(${ids}::uuid[]) and j.node_id is not null
      for no key update of p
    ),
    locked as (
      select id from join_tokens
      -- Asked of no row, and so before the first one is locked.
      where id = any(${ids}::uuid[]) and (select count(*) from held) >= 0
      order by id for no key update
    ),
    used as (
      update join_tokens as t set uses = t.uses + asked.uses
      from locked join asked using (id), domains as d
      where t.id = locked.id and d.id = t.domain_id
        and t.uses + asked.uses <= t.max_uses and t.revoked_at is null and t.expires_at > ${now}
        and (${isAlone}::boolean or t.node_id is null)
      returning t.id, asked.uses, t.domain_id, t.project_id, t.node_id, t.labels, t.ephemeral, t.created_by, d.mesh_cidr
    ),
    pool as (${takeNumbers(sql`used where node_id is null`, nowMs)})
    select used.*, pool.next_number, pool.has_rested from used left join pool using (domain_id)`.execute(tx)
  const unused = ids.find((id) => !rows.some((row) => row.id === id))
  if (unused !== undefined)
    throw problem((await isUsable(tx, unused, now)) ? 'join_token_exhausted' : 'invalid_join_token')
  return {
    terms: new Map(rows.map((row) => [row.id, termsOf(row)])),
    taken: new Map(rows.flatMap((row) => (row.next_number === null ? [] : [[row.domain_id, row]]))),
  }
}

type TokenTerms = Pick<
  Selectable<JoinTokenRow>,
  'id' | 'domain_id' | 'project_id' | 'node_id' | 'labels' | 'ephemeral' | 'created_by'
> & { readonly mesh_cidr: string }

function termsOf({ domain_id, mesh_cidr, project_id, node_id, created_by, labels, ephemeral }: TokenTerms): JoinTerms {
  const place = { domainId: domain_id, meshCidr: mesh_cidr, projectId: project_id }
  return { ...place, nodeId: node_id, labels, ephemeral, createdBy: created_by }
}

/** No number for a re-enrolment. */
type UsedRow = TokenTerms & (TakenNumbers | { readonly next_number: null; readonly has_rested: null })

/** Whether the token is valid apart from the number of its uses. */
async function isUsable(tx: Db, tokenId: string, now: Date): Promise<boolean> {
  const usable = await tx
    .selectFrom('join_tokens')
    .select('id')
    .where('id', '=', tokenId)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return usable !== undefined
}

/** A new node with the terms of its token and its place. */
export interface NewNode extends Enrolment, Placement {
  readonly terms: JoinTerms
}

/**
 * Inserts nodes without labels, with their heartbeat rows and first keys, as one change for the other nodes of each of their
 * Domains. The rows of the Domains' peers are locked before the insert.
 *
 * @throws Problem `node_name_conflict`, `public_key_in_use`: for one of them.
 */
export async function insertNodes(tx: Db, nodes: readonly NewNode[]): Promise<void> {
  await conflictsAs(
    sql`
      with newcomer as (
        select * from json_to_recordset(${newNodesText(nodes)}::json) as said (
          id uuid, domain_id uuid, project_id uuid, name text, kind text, public_key text, mesh_address inet,
          psk_sealed text, psk_issued_at bigint, ephemeral boolean, at timestamptz,
          binary_version text, binary_checksum text, kid text, fingerprint text, fingerprint_key_id text
        )
      ),
      risen as (${risenBy(sql`newcomer`)}),
      node as (
        insert into nodes (
          id, domain_id, project_id, name, kind, public_key, mesh_address, psk_sealed, psk_issued_at, labels, ephemeral,
          created_at, updated_at, peer_revision
        )
        select id, domain_id, project_id, name, kind, decode(public_key, 'base64'), mesh_address,
          decode(psk_sealed, 'base64'), psk_issued_at, '{}', ephemeral, at, at, risen.revision
        from newcomer join risen using (domain_id)
      ),
      heartbeat as (
        insert into node_heartbeats (node_id, created_at, binary_version, binary_checksum)
        select id, at, binary_version, decode(binary_checksum, 'base64') from newcomer
      )
      insert into node_secret_keys (node_id, kid, fingerprint, fingerprint_key_id, created_at)
      select id, kid, decode(fingerprint, 'base64'), fingerprint_key_id, at from newcomer`.execute(tx),
    CONFLICTS,
  )
}

/** One JSON text: binding every value would cost this process several times as much. */
function newNodesText(nodes: readonly NewNode[]): string {
  return JSON.stringify(
    nodes.map(({ terms, key, ...node }) => ({
      id: node.nodeId,
      domain_id: terms.domainId,
      project_id: terms.projectId,
      name: node.name,
      kind: node.kind,
      public_key: node.publicKey.toString('base64'),
      mesh_address: node.meshAddress,
      psk_sealed: node.pskSealed.toString('base64'),
      psk_issued_at: node.pskIssuedAtNs.toString(),
      ephemeral: terms.ephemeral,
      at: new Date(node.atMs),
      binary_version: node.binaryVersion,
      binary_checksum: node.binaryChecksum?.toString('base64'),
      kid: key.kid,
      fingerprint: key.fingerprint.toString('base64'),
      fingerprint_key_id: key.fingerprintKeyId,
    })),
  )
}

/**
 * Gives an enrolled node, whose row the caller has locked, new facts under its id, name and address.
 *
 * @throws Problem `public_key_in_use`.
 */
export async function updateEnrolment(tx: Db, node: Enrolment): Promise<Placement> {
  const updated = await conflictsAs(
    tx
      .updateTable('nodes')
      .set(factsOf(node))
      .where('id', '=', node.nodeId)
      .returning(['name', 'mesh_address'])
      .executeTakeFirstOrThrow(),
    CONFLICTS,
  )
  await tx
    .updateTable('node_heartbeats')
    .set({
      binary_version: node.binaryVersion,
      binary_checksum: node.binaryChecksum,
      // The state shows when its keys were issued.
      node_revision: sql`node_revision + 1`,
      // The holder of the new key has pulled nothing yet.
      pulled_peer_revision: null,
      pulled_node_revision: null,
    })
    .where('node_id', '=', node.nodeId)
    .execute()
  return { name: updated.name, meshAddress: updated.mesh_address }
}

function factsOf(node: Enrolment): {
  kind: string
  public_key: Buffer
  psk_sealed: Buffer
  psk_issued_at: string
  updated_at: Date
  enrolled_again_at: Date
} {
  return {
    kind: node.kind,
    public_key: node.publicKey,
    psk_sealed: node.pskSealed,
    psk_issued_at: node.pskIssuedAtNs.toString(),
    updated_at: new Date(node.atMs),
    enrolled_again_at: new Date(node.atMs),
  }
}
