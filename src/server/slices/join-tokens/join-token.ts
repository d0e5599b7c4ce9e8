import type { joinTokens } from '../../../shared/contract/join-tokens.ts'
import type { Input, Result } from '../../../shared/contract/operation-types.ts'
import type { JoinTokenRecord } from './store.ts'

type Operations = (typeof joinTokens)['operations']
type Body = Input<Operations['CreateJoinToken']>['body']
type Answer = Result<Operations['ListJoinTokens']>['items'][number]

/** Default lifetime of a token, in seconds (decisions 6). */
const DEFAULT_TTL_SECONDS = 3_600

/** Who creates a token, where and when. */
export interface Creation {
  readonly id: string
  readonly domainId: string
  readonly createdBy: string
  readonly at: Date
}

/** The stored parts of a token's text. */
export interface StoredSecret {
  readonly prefix: string
  readonly fingerprint: Buffer
  readonly fingerprint_key_id: string
}

/** The row of a new token, its defaults filled in. */
export function newJoinToken(creation: Creation, body: Body, secret: StoredSecret): JoinTokenRecord {
  const ttlMs = (body.ttl_seconds ?? DEFAULT_TTL_SECONDS) * 1000
  return {
    id: creation.id,
    domain_id: creation.domainId,
    project_id: body.project_id ?? null,
    node_id: body.node_id ?? null,
    ...secret,
    labels: body.labels ?? {},
    ephemeral: body.ephemeral ?? false,
    max_uses: body.max_uses ?? 1,
    uses: 0,
    created_by: creation.createdBy,
    created_at: creation.at,
    expires_at: new Date(creation.at.getTime() + ttlMs),
    revoked_at: null,
  }
}

/** A token as it is shown: its prefix, never its text. */
export function toAnswer(token: JoinTokenRecord): Answer {
  const { fingerprint: _fingerprint, fingerprint_key_id: _keyId, ...shown } = token
  return {
    ...shown,
    created_at: token.created_at.toISOString(),
    expires_at: token.expires_at.toISOString(),
    revoked_at: token.revoked_at?.toISOString() ?? null,
  }
}
