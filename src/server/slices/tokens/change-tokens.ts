import { problem } from '../../../shared/problems.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import type { Minted, MintToken, TokenDraft } from './mint.ts'
import { ownerReference, type Owner } from './owner.ts'
import * as store from './store.ts'
import { endOfGrace, isLive, lifetimeFrom, LISTED_AFTER_END_MS, LIVE_TOKENS_MAX } from './token.ts'

/** Ended tokens that each new token deletes: more than one, so that they cannot accumulate. */
const FORGOTTEN_AT_ONCE = 20

/** The properties of a new token, before its owner is known to exist. */
export interface TokenOrder extends Omit<TokenDraft, 'owner'> {
  readonly owner: Owner
}

/**
 * Issues a token; undefined when there is no such owner. It is the only place that creates one, also at the first run.
 * @throws Problem `token_limit_exceeded`
 */
export async function issueToken(change: Change, mint: MintToken, order: TokenOrder): Promise<Minted | undefined> {
  const owner = await store.lockOwner(change.db, order.owner)
  if (owner === undefined) return undefined
  if (order.isHidden !== true) await requireRoom(change, owner, order.createdAt)
  const minted = mint({ ...order, owner })
  await add(change, minted.record)
  change.emit({ event: 'APITokenIssued', ...about(minted.record, {}) })
  return minted
}

async function requireRoom(change: Change, owner: Owner, now: Date): Promise<void> {
  const live = await store.countLive(change.db, owner.id, now)
  if (live >= LIVE_TOKENS_MAX) throw problem('token_limit_exceeded')
}

/** A rotation: the new token, and when the old one stops working. */
export interface Rotated extends Minted {
  readonly retiresAt: Date
}

/** How to rotate a token. */
export interface Rotation {
  /** Locked. */
  readonly old: store.TokenRecord
  readonly nowMs: number
  readonly graceSeconds: number | undefined
  /** Whether the owner rotates it, with a credential that nobody else has; false by default. */
  readonly isSelfIssued?: boolean
}

/**
 * Replaces a locked token by one with the same owner, name, scopes and lifetime.
 * @throws Problem `token_not_active` when it is revoked, expired or rotated already.
 */
export async function rotateToken(
  change: Change,
  mint: MintToken,
  { old, nowMs, graceSeconds, isSelfIssued = false }: Rotation,
): Promise<Rotated> {
  if (!isLive(old, nowMs)) throw problem('token_not_active')
  const retiresAt = endOfGrace(old, nowMs, graceSeconds)
  const owner = { ...ownerOf(old), domainId: old.domain_id }
  const lifetime = lifetimeFrom(nowMs, old.lifetime_seconds)
  const createdAt = new Date(nowMs)
  const minted = mint({ owner, name: old.name, scopes: old.scopes, lifetime, createdAt, isSelfIssued })
  await add(change, minted.record)
  await store.markRotated(change.db, old.id, { rotatedTo: minted.record.id, expiresAt: retiresAt })
  change.credentialChanged('api-token', old.id)
  const names = { rotated_to: minted.record.id, retires_at: retiresAt.toISOString() }
  change.emit({ event: 'APITokenRotated', ...about(old, names) })
  return { ...minted, retiresAt }
}

/** Ends a locked token at once. A revoked token stays unchanged, and nothing is announced. */
export async function revokeToken(change: Change, token: store.TokenRecord, at: Date): Promise<void> {
  if (token.revoked_at !== null) return
  await store.markRevoked(change.db, token.id, at)
  change.credentialChanged('api-token', token.id)
  change.emit({ event: 'APITokenRevoked', ...about(token, {}) })
}

async function add(change: Change, token: store.TokenRecord): Promise<void> {
  await forget(change, token)
  await store.insertToken(change.db, token)
  await change.tuples.createStructural(
    { subject: ownerReference(ownerOf(token)), relation: 'owner', resource: `token:${token.id}` },
    { domainId: token.domain_id, projectId: null },
  )
}

/** Deletes tokens of the same owner that no list will show again. */
async function forget(change: Change, { owner_id: ownerId, created_at: now }: store.TokenRecord): Promise<void> {
  const endedSince = new Date(now.getTime() - LISTED_AFTER_END_MS)
  const ids = await store.lockForgotten(change.db, { ownerId, now, endedSince, count: FORGOTTEN_AT_ONCE })
  await store.deleteTokens(change.db, ids)
  for (const id of ids) await change.tuples.deleteObject(`token:${id}`)
}

/** An event of the token without its literal. `more`: names and instants; never the token. */
function about<More extends object>(token: store.TokenRecord, more: More) {
  const payload = { token_id: token.id, owner: ownerReference(ownerOf(token)), ...more }
  return { domainId: token.domain_id, aggregate: `token:${token.id}`, payload }
}

function ownerOf({ owner_id: id, owner_kind: kind }: store.TokenRecord): Owner {
  return { id, kind }
}
