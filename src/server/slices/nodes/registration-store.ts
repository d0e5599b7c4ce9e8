import { sql, type Selectable } from 'kysely'
import { problem } from '../../../shared/problems.ts'
import type { Db } from '../../ports/datastore.ts'
import type { JoinTokenRow } from '../../ports/tables/nodes.ts'
import { risenBy } from '../../sql/state-revisions.ts'
import { conflictsAs, type Conflicts } from '../../sql/unique.ts'
import { takeNumber, type TakenNumber } from './address-store.ts'
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

/** A use of a join token: its terms, and for a new node a number of its Domain's addresses. */
export interface JoinUse {
  readonly terms: JoinTerms
  readonly taken: TakenNumber | undefined
}

/**
 * Counts one use, under the token's row lock, and gives the token's terms: at most `max_uses` callers succeed.
 * A token for new nodes locks its Domain's pool of addresses after that, in the same statement.
 * For a re-enrolment, the Domain's peers are locked before: a deregistration locks them before it comes to the node's
 * tokens.
 *
 * @throws Problem `join_token_exhausted`; `invalid_join_token` when it has expired, was revoked or was deleted.
 */
export async function countUse(tx: Db, tokenId: string, nowMs: number): Promise<JoinUse> {
  const now = new Date(nowMs)
  const { rows } = await sql<UsedRow>`
    with held as (
      select from domain_peers as p join join_tokens as j on j.domain_id = p.domain_id
      where j.id = ${tokenId} and j.node_id is not null
      for no key update of p
    ),
    used as (
      update join_tokens as t set uses = t.uses + 1
      from domains as d
      where t.id = ${tokenId} and d.id = t.domain_id
        and t.uses < t.max_uses and t.revoked_at is null and t.expires_at > ${now}
        -- Asked of no row, and so before the first one is locked.
        and (select count(*) from held) >= 0
      returning t.domain_id, t.project_id, t.node_id, t.labels, t.ephemeral, t.created_by, d.mesh_cidr
    ),
    pool as (${takeNumber(sql`used where node_id is null`, nowMs)})
    select used.*, pool.number, pool.has_rested from used left join pool on true`.execute(tx)
  const [used] = rows
  if (used === undefined)
    throw problem((await isUsable(tx, tokenId, now)) ? 'join_token_exhausted' : 'invalid_join_token')
  const { number, has_rested } = used
  return {
    terms: termsOf(used),
    taken: number === null ? undefined : { number, has_rested },
  }
}

type TokenTerms = Pick<
  Selectable<JoinTokenRow>,
  'domain_id' | 'project_id' | 'node_id' | 'labels' | 'ephemeral' | 'created_by'
> & { readonly mesh_cidr: string }

function termsOf({ domain_id, mesh_cidr, project_id, node_id, created_by, labels, ephemeral }: TokenTerms): JoinTerms {
  const place = { domainId: domain_id, meshCidr: mesh_cidr, projectId: project_id }
  return { ...place, nodeId: node_id, labels, ephemeral, createdBy: created_by }
}

/** No number for a re-enrolment. */
type UsedRow = TokenTerms & (TakenNumber | { readonly number: null; readonly has_rested: null })

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

/**
 * Inserts a node without labels, with its heartbeat row and its first key, as a change for its Domain's other nodes. The row
 * of the Domain's peers is locked before the insert.
 *
 * @throws Problem `node_name_conflict`, `public_key_in_use`.
 */
export async function insertNode(tx: Db, terms: JoinTerms, node: Enrolment & Placement): Promise<void> {
  const at = new Date(node.atMs)
  const { key } = node
  await conflictsAs(
    sql`
      with risen as (${risenBy(terms)}),
      node as (
        insert into nodes (
          id, domain_id, project_id, name, kind, public_key, mesh_address, psk_sealed, psk_issued_at, labels, ephemeral,
          created_at, updated_at, peer_revision
        )
        select ${node.nodeId}::uuid, ${terms.domainId}::uuid, ${terms.projectId}::uuid, ${node.name}, ${node.kind},
          ${node.publicKey}::bytea, ${node.meshAddress}::inet, ${node.pskSealed}::bytea,
          ${node.pskIssuedAtNs.toString()}::bigint, '{}', ${terms.ephemeral}::boolean,
          ${at}::timestamptz, ${at}::timestamptz, risen.revision
        from risen
      ),
      heartbeat as (
        insert into node_heartbeats (node_id, created_at, binary_version, binary_checksum)
        values (${node.nodeId}, ${at}, ${node.binaryVersion}, ${node.binaryChecksum})
      )
      insert into node_secret_keys (node_id, kid, fingerprint, fingerprint_key_id, created_at)
      values (${key.nodeId}, ${key.kid}, ${key.fingerprint}, ${key.fingerprintKeyId}, ${new Date(key.createdAtMs)})`.execute(
      tx,
    ),
    CONFLICTS,
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
