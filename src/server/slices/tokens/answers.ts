import type { tokens } from '../../../shared/contract/tokens.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import type { Rotated } from './change-tokens.ts'
import type { Minted } from './mint.ts'
import { ownerOfCaller } from './owner.ts'
import type { DomainNames, TokenRecord } from './store.ts'

type Operations = (typeof tokens)['operations']
type Summary = Result<Operations['GetAuthTokens']>[number]
type IssuedAnswer = Result<Operations['PostAuthTokens']>
type WhoamiAnswer = Result<Operations['GetAuthWhoami']>

/** The row as the API shows it; never the token. */
export function toSummary(token: TokenRecord): Summary {
  return {
    id: token.id,
    name: token.name,
    prefix: token.prefix,
    scopes: token.scopes,
    created_at: token.created_at.toISOString(),
    expires_at: token.expires_at.toISOString(),
    last_used_at: token.last_used_at?.toISOString() ?? null,
    revoked_at: token.revoked_at?.toISOString() ?? null,
    rotated_to: token.rotated_to,
  }
}

/** Answers with a new token, below that path; the only time that its plaintext is shown. */
export function answerIssued(ctx: RequestContext, { record, token }: Minted, path: string): IssuedAnswer {
  ctx.header('Location', `${path}/${record.id}`)
  return { ...toSummary(record), token }
}

/** Answers with the new token and names the deadline of the old one, in whole seconds and never late (RFC 8594 §3, RFC 9110 §5.6.7). */
export function answerRotated(ctx: RequestContext, { record, token, retiresAt }: Rotated): IssuedAnswer {
  ctx.header('Sunset', retiresAt.toUTCString())
  return { ...toSummary(record), token }
}

/** The caller's principal, Domain and credential. */
export function toWhoami(caller: Caller, domain: DomainNames): WhoamiAnswer {
  const { kind: type, id, scopes, expiresAtMs } = caller.credential
  return {
    subject: caller.subject,
    kind: ownerOfCaller(caller).kind,
    domain_id: caller.domainId,
    domain_slug: domain.slug,
    domain_display_name: domain.display_name,
    display_name: caller.displayName,
    credential: { type, id, scopes: [...scopes], expires_at: instant(expiresAtMs) },
    auth_time: instant(caller.authTimeMs),
    acr: caller.acr ?? null,
  }
}

function instant(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}
