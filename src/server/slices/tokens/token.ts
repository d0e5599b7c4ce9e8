import { problem } from '../../../shared/problems.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import type { TokenRecord } from './store.ts'

/** How many live tokens an owner may have, hidden ones and those already rotated apart. */
export const LIVE_TOKENS_MAX = 200

/** How long a revoked or expired token is still listed: 90 days. */
export const LISTED_AFTER_END_MS = 90 * 86_400_000

const DEFAULT_LIFETIME_SECONDS = 90 * 86_400
const DEFAULT_GRACE_SECONDS = 3600

/** Whether the token may be rotated: it works, and was not rotated before. */
export function isLive(token: TokenRecord, nowMs: number): boolean {
  return token.revoked_at === null && token.rotated_to === null && token.expires_at.getTime() > nowMs
}

/** How long a token lives. */
export interface Lifetime {
  /** The properties that a rotation keeps. */
  readonly seconds: number
  readonly expiresAt: Date
}

/** The requested lifetime, 90 days by default. */
export function lifetimeFrom(nowMs: number, seconds: number = DEFAULT_LIFETIME_SECONDS): Lifetime {
  return { seconds, expiresAt: new Date(nowMs + seconds * 1000) }
}

/**
 * The lifetime of a token that a caller issues to itself: it ends with the token that issues it at the latest
 * (decisions: Scopes). The default is shortened to that; an explicit longer lifetime is refused.
 * @throws Problem `scope_exceeds_caller`
 */
export function lifetimeWithin(
  { kind, expiresAtMs }: Caller['credential'],
  nowMs: number,
  asked: number | undefined,
): Lifetime {
  const lifetime = lifetimeFrom(nowMs, asked)
  if (kind !== 'api-token' || expiresAtMs === undefined || lifetime.expiresAt.getTime() <= expiresAtMs) return lifetime
  if (asked !== undefined) throw problem('scope_exceeds_caller')
  return { seconds: Math.max(1, Math.floor((expiresAtMs - nowMs) / 1000)), expiresAt: new Date(expiresAtMs) }
}

/** When a token that is rotated now stops working: after the grace, at its own expiry at the latest. */
export function endOfGrace(token: TokenRecord, nowMs: number, graceSeconds: number = DEFAULT_GRACE_SECONDS): Date {
  return new Date(Math.min(token.expires_at.getTime(), nowMs + graceSeconds * 1000))
}
