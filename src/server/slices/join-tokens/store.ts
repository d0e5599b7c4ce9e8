import { sql, type Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import type { JoinTokenRow } from '../../ports/tables/nodes.ts'
import { holdDomain } from '../../sql/hold-domain.ts'
import { holdNode } from '../../sql/hold-node.ts'
import { holdProject } from '../../sql/hold-project.ts'
import { byIdDescending } from '../../sql/keyset.ts'

/** A join token as stored: its prefix and fingerprint, never the token. */
export type JoinTokenRecord = Selectable<JoinTokenRow>

/** What a token is bound to, which must be in its Domain. */
export interface JoinTokenBounds {
  readonly domainId: string
  readonly projectId: string | null
  readonly nodeId: string | null
}

/** Finds which of a token's bounds do not exist in the Domain, and locks the others against deletion until the transaction ends. */
export async function missingBound(
  tx: Db,
  bounds: JoinTokenBounds,
): Promise<'domain' | 'project' | 'node' | undefined> {
  const { domainId, projectId, nodeId } = bounds
  if (!(await holdDomain(tx, domainId))) return 'domain'
  if (projectId !== null && (await holdProject(tx, projectId, domainId)) === undefined) return 'project'
  if (nodeId !== null && (await holdNode(tx, nodeId, domainId)) === undefined) return 'node'
  return undefined
}

export async function insertJoinToken(tx: Db, token: JoinTokenRecord): Promise<void> {
  await tx
    .insertInto('join_tokens')
    .values({ ...token, labels: JSON.stringify(token.labels) })
    .execute()
}

/** Reads a Domain's tokens, newest first. */
export function readJoinTokens(db: Db, domainId: string, range: PageRange): Promise<JoinTokenRecord[]> {
  const tokens = db.selectFrom('join_tokens').selectAll().where('domain_id', '=', domainId)
  return byIdDescending.page(tokens, range).execute()
}

/** Finds tokens by their ids. */
export async function findJoinTokens(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, JoinTokenRecord>> {
  const rows = await db
    .selectFrom('join_tokens')
    .selectAll()
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** Revokes a token of the Domain; the first revocation's instant stays. False when there is no such token. */
export async function revokeJoinToken(tx: Db, token: { id: string; domainId: string }, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('join_tokens')
    .set((on) => ({ revoked_at: on.fn.coalesce('revoked_at', on.val(at)) }))
    .where('id', '=', token.id)
    .where('domain_id', '=', token.domainId)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
