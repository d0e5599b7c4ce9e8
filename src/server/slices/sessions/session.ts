import { SESSION_IDLE_MS, type LiveSession } from '../../ports/sessions.ts'

/** Live sessions of one person; the oldest ends where another begins. */
export const LIVE_MAX = 50

/** A session that was last seen then, or before, has ended. */
export function idleSince(now: Date): Date {
  return new Date(now.getTime() - SESSION_IDLE_MS)
}

/** When a session ends unless it is seen again. */
export function idleEnd(lastSeenAt: Date, expiresAt: Date): Date {
  return new Date(Math.min(lastSeenAt.getTime() + SESSION_IDLE_MS, expiresAt.getTime()))
}

interface Lifetime {
  readonly expires_at: Date
  readonly last_seen_at: Date
}

export function isLive({ expires_at: expiresAt, last_seen_at: lastSeenAt }: Lifetime, now: Date): boolean {
  return expiresAt > now && lastSeenAt > idleSince(now)
}

interface StoredSession {
  readonly id: string
  readonly principal_id: string
  readonly domain_id: string
  readonly binding_id: string | null
  readonly display_name: string
  readonly acr: string | null
  readonly amr: string[]
  readonly auth_time: Date
}

export function toLiveSession(row: StoredSession): LiveSession {
  return {
    id: row.id,
    principalId: row.principal_id,
    domainId: row.domain_id,
    bindingId: row.binding_id,
    displayName: row.display_name,
    acr: row.acr ?? undefined,
    amr: row.amr,
    authTimeMs: row.auth_time.getTime(),
  }
}
