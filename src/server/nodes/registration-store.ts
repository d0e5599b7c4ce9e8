import { problem, type ProblemCode } from '../../shared/problems.ts'
import { type Db, isUniqueViolation } from '../ports/datastore.ts'
import { keyRow, type NewSecretKey } from './secret-key-store.ts'

/** What a join token lends to the nodes that join with it; fixed when it was created. */
export interface JoinTerms {
  readonly domainId: string
  readonly meshCidr: string
  readonly projectId: string | null
  /** The node that is enrolled again; null for a new one. */
  readonly nodeId: string | null
  readonly labels: Record<string, string>
  readonly ephemeral: boolean
}

/** What a node says of itself when it registers, and what is made for it. */
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

/** Which constraint of `nodes` refuses what. */
const CONFLICTS: readonly { readonly constraint: string; readonly code: ProblemCode }[] = [
  { constraint: 'nodes_domain_name_key', code: 'node_name_conflict' },
  { constraint: 'nodes_domain_public_key_key', code: 'public_key_in_use' },
]

/**
 * Counts one use, under the token's row lock, and gives the token's terms: of any number of callers, `max_uses` get past.
 * Where a node is enrolled again, the Domain's peers are held before: its deregistration holds them when it comes to its
 * tokens.
 *
 * @throws Problem `join_token_exhausted`; `invalid_join_token` when it has expired, was revoked or is gone.
 */
export async function countUse(tx: Db, tokenId: string, nowMs: number): Promise<JoinTerms> {
  const now = new Date(nowMs)
  const used = await tx
    .with('held', (on) =>
      on
        .selectFrom('domain_peers as p')
        .innerJoin('join_tokens as j', 'j.domain_id', 'p.domain_id')
        .select('p.domain_id')
        .where('j.id', '=', tokenId)
        .where('j.node_id', 'is not', null)
        .forNoKeyUpdate('p'),
    )
    .updateTable('join_tokens as t')
    .from('domains as d')
    .set((on) => ({ uses: on('t.uses', '+', 1) }))
    .where('t.id', '=', tokenId)
    .whereRef('d.id', '=', 't.domain_id')
    .whereRef('t.uses', '<', 't.max_uses')
    .where('t.revoked_at', 'is', null)
    .where('t.expires_at', '>', now)
    // Asked of no row, and so before the first one is locked.
    .where((on) => on(on.selectFrom('held').select(on.fn.countAll<number>().as('count')), '>=', 0))
    .returning(['t.domain_id', 't.project_id', 't.node_id', 't.labels', 't.ephemeral', 'd.mesh_cidr'])
    .executeTakeFirst()
  if (used === undefined)
    throw problem((await isUsable(tx, tokenId, now)) ? 'join_token_exhausted' : 'invalid_join_token')
  const { domain_id, project_id, node_id, labels, ephemeral, mesh_cidr } = used
  return { domainId: domain_id, meshCidr: mesh_cidr, projectId: project_id, nodeId: node_id, labels, ephemeral }
}

/** Whether the token would do but for the number of its uses. */
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
 * Inserts a node with its place for heartbeats and its first key.
 *
 * @throws Problem `node_name_conflict`, `public_key_in_use`.
 */
export async function insertNode(tx: Db, terms: JoinTerms, node: Enrolment & Placement): Promise<void> {
  const at = new Date(node.atMs)
  const { binaryVersion: binary_version, binaryChecksum: binary_checksum } = node
  await translated(
    tx
      .with('node', (on) =>
        on
          .insertInto('nodes')
          .values({
            id: node.nodeId,
            domain_id: terms.domainId,
            project_id: terms.projectId,
            name: node.name,
            mesh_address: node.meshAddress,
            labels: JSON.stringify(terms.labels),
            ephemeral: terms.ephemeral,
            created_at: at,
            ...factsOf(node),
          })
          .returning('id'),
      )
      .with('heartbeat', (on) =>
        on
          .insertInto('node_heartbeats')
          .values({ node_id: node.nodeId, created_at: at, binary_version, binary_checksum })
          .returning('node_id'),
      )
      .insertInto('node_secret_keys')
      .values(keyRow(node.key))
      .execute(),
  )
}

/**
 * Gives an enrolled node, whose row the caller has locked, new facts under its id, name and address.
 *
 * @throws Problem `public_key_in_use`.
 */
export async function updateEnrolment(tx: Db, node: Enrolment): Promise<Placement> {
  const updated = await translated(
    tx
      .updateTable('nodes')
      .set(factsOf(node))
      .where('id', '=', node.nodeId)
      .returning(['name', 'mesh_address'])
      .executeTakeFirstOrThrow(),
  )
  await tx
    .updateTable('node_heartbeats')
    .set({ binary_version: node.binaryVersion, binary_checksum: node.binaryChecksum })
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
} {
  return {
    kind: node.kind,
    public_key: node.publicKey,
    psk_sealed: node.pskSealed,
    psk_issued_at: node.pskIssuedAtNs.toString(),
    updated_at: new Date(node.atMs),
  }
}

async function translated<T>(write: Promise<T>): Promise<T> {
  try {
    return await write
  } catch (error) {
    const conflict = CONFLICTS.find(({ constraint }) => isUniqueViolation(error, constraint))
    throw conflict === undefined ? error : problem(conflict.code, {}, error)
  }
}
