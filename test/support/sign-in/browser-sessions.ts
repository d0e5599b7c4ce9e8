import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { CredentialResolver } from '../../../src/server/ports/credential-resolver.ts'
import type { Datastore, Db } from '../../../src/server/ports/datastore.ts'
import type { Clock, IdSource } from '../../../src/server/ports/clock.ts'
import {
  SESSION_ABSOLUTE_MS,
  SESSION_COOKIE,
  type LiveSession,
  type Sessions,
} from '../../../src/server/ports/sessions.ts'

export interface BrowserSessions {
  readonly sessions: Pick<Sessions, 'find' | 'csrfToken'>
  readonly resolver: CredentialResolver
  /** Opens a session of the principal that began at `authTimeMs`, now by default, and was that strong; resolves with its cookie. */
  open(principalId: string, authTimeMs?: number, acr?: string): Promise<OpenSession>
}

export interface OpenSession {
  readonly id: string
  readonly cookie: string
  readonly csrfToken: string
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Sessions as rows of the datastore, for tests of what is done with one: no idle end, no sign-in before it. */
export function browserSessions(parts: {
  readonly datastore: Datastore
  readonly clock: Clock
  readonly ids: IdSource
}): BrowserSessions {
  const { datastore, clock, ids } = parts
  const db = datastore.pool('interactive')
  const csrfToken = (sessionId: string): string => createHmac('sha256', 'test').update(sessionId).digest('base64url')

  async function find(on: Db, cookie: string, nowMs: number): Promise<LiveSession | undefined> {
    const row = await on
      .selectFrom('sessions')
      .innerJoin('principals', 'principals.id', 'sessions.principal_id')
      .selectAll('sessions')
      .select('principals.display_name')
      .where('fingerprint', '=', sha256(cookie))
      .where('expires_at', '>', new Date(nowMs))
      .executeTakeFirst()
    return (
      row && {
        id: row.id,
        principalId: row.principal_id,
        domainId: row.domain_id,
        bindingId: row.binding_id,
        displayName: row.display_name,
        acr: row.acr ?? undefined,
        amr: row.amr,
        authTimeMs: row.auth_time.getTime(),
      }
    )
  }

  return {
    sessions: { find, csrfToken },
    resolver: {
      kind: 'session',
      cookie: SESSION_COOKIE,
      recognizes: () => true,
      async resolve(cookie) {
        const live = await find(db, cookie, clock.now())
        if (live === undefined) return { refused: true, log: 'no such session' }
        const { id, principalId, domainId, displayName, authTimeMs, acr } = live
        const credential = { kind: 'session', id, scopes: ['*'], expiresAtMs: undefined } as const
        return {
          subject: `user:${principalId}`,
          kind: 'user',
          id: principalId,
          domainId,
          displayName,
          credential,
          authTimeMs,
          ...(acr !== undefined && { acr }),
        }
      },
    },
    async open(principalId, authTimeMs = clock.now(), acr) {
      const [id, cookie] = [ids.next(), randomBytes(32).toString('base64url')]
      const { domain_id: domainId } = await db
        .selectFrom('principals')
        .select('domain_id')
        .where('id', '=', principalId)
        .executeTakeFirstOrThrow()
      await db
        .insertInto('sessions')
        .values({
          id,
          fingerprint: sha256(cookie),
          principal_id: principalId,
          domain_id: domainId,
          binding_id: null,
          acr: acr ?? null,
          amr: '[]',
          auth_time: new Date(authTimeMs),
          source_address: '127.0.0.1',
          user_agent: 'test',
          created_at: new Date(authTimeMs),
          last_seen_at: new Date(authTimeMs),
          expires_at: new Date(authTimeMs + SESSION_ABSOLUTE_MS),
        })
        .execute()
      return { id, cookie, csrfToken: csrfToken(id) }
    },
  }
}
