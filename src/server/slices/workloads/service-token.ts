import { createHash } from 'node:crypto'
import type { Input, Result } from '../../../shared/contract/operation-types.ts'
import {
  CLIENT_CREDENTIALS_GRANT,
  DEVICE_GRANT,
  JWT_BEARER_ASSERTION,
  JWT_BEARER_GRANT,
} from '../../../shared/contract/oauth-schemas.ts'
import type { serviceToken } from '../../../shared/contract/service-token.ts'
import { problem, Problem } from '../../../shared/problems.ts'
import type { LastUses } from '../../http/auth/last-uses.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { MintGrantedToken } from '../../ports/token-minting.ts'
import { claimedIdentity, verifyClientAssertion } from './client-assertion.ts'
import { isNonZeroUuid } from '../../../shared/ids.ts'
import { claimedWorkload, verifyJwtSvid } from './jwt-svid.ts'
import { AssertionRefused } from './refusal.ts'
import * as store from './store.ts'
import type { WorkloadLimits } from './limits.ts'
import type { Verified } from './verify-assertion.ts'

/** How long the token of a workload lives (decisions: Service identity). */
const TOKEN_SECONDS = 3600

type Request = Input<(typeof serviceToken)['operations']['PostAuthServiceToken']>['body']

/** An authenticated workload. */
interface Proof {
  readonly identity: Pick<store.ServiceIdentity, 'id' | 'domainId'>
  readonly verified: Verified
}

/** A grant type: the name of its refusals, and its verification. */
interface Grant {
  readonly name: typeof CLIENT_CREDENTIALS_GRANT | 'jwt-bearer'
  readonly refused: 'invalid_client' | 'invalid_grant'
  /** @throws AssertionRefused */
  prove(ctx: RequestContext, body: Request): Promise<Proof>
}

export interface ServiceTokenDeps {
  readonly datastore: Datastore
  readonly mintGranted: MintGrantedToken
  readonly limits: WorkloadLimits
  /** Called with the service identities that authenticate. */
  readonly signIns: Pick<LastUses, 'note'>
  /** URL under which the server is reached, without a slash at its end. */
  readonly baseUrl: string
  /** Serves the device grant, as the device token operation does. */
  readonly pollDevice: PollDevice
}

/** A poll of a device: the token once its sign-in is approved. @throws Problem the error of RFC 8628 §3.5 */
export type PollDevice = (
  ctx: RequestContext,
  poll: { readonly deviceCode: string; readonly clientId: string | undefined },
) => Promise<Result<(typeof serviceToken)['operations']['PostAuthServiceToken']>>

/**
 * Exchanges the assertion of a workload for an API token of an hour (RFC 6749 §4.4 with RFC 7523 §2.2, or RFC 7523 §2.1
 * with a JWT-SVID). The reason of a refusal is only in the log; callers cannot distinguish the refusals of a grant. The device grant is
 * passed on: its polls count against none of the limits here.
 */
export function createServiceToken({
  datastore,
  mintGranted,
  limits,
  signIns,
  baseUrl,
  pollDevice,
}: ServiceTokenDeps): Pick<Handlers<typeof serviceToken>, 'PostAuthServiceToken'> {
  const audiences = [`${baseUrl}/v1/auth/service/token`, baseUrl]
  const rulesAt = (nowMs: number) => ({ audiences, nowMs })
  const db = () => datastore.pool('interactive')

  const clientCredentials: Grant = {
    name: CLIENT_CREDENTIALS_GRANT,
    refused: 'invalid_client',
    async prove({ nowMs }, { client_assertion_type: type, client_assertion: assertion, client_id: clientId }) {
      if (assertion === undefined) throw new AssertionRefused('there is no client_assertion')
      if (type !== JWT_BEARER_ASSERTION) throw new AssertionRefused('its client_assertion_type is another')
      const id = claimedIdentity(assertion)
      if (clientId !== undefined && clientId !== id) throw new AssertionRefused('the client_id is not its sub')
      const identity = await store.findServiceIdentity(db(), id)
      if (identity === undefined) throw new AssertionRefused('there is no such service identity')
      return { identity, verified: await verifyClientAssertion(assertion, identity, rulesAt(nowMs)) }
    },
  }

  const jwtBearer: Grant = {
    name: 'jwt-bearer',
    refused: 'invalid_grant',
    async prove({ nowMs }, { assertion, client_assertion: unasked, client_id: identityId }) {
      if (assertion === undefined) throw invalidMember('assertion', 'is missing')
      if (unasked !== undefined) throw new AssertionRefused('a client_assertion does not go with this grant')
      if (identityId !== undefined && !isNonZeroUuid(identityId)) throw new AssertionRefused('the client_id is no id')
      const workload = { ...claimedWorkload(assertion), identityId }
      const { identity, ...verified } = await verifyJwtSvid(
        assertion,
        await store.findTrustedIdentities(db(), workload),
        rulesAt(nowMs),
      )
      return { identity, verified }
    },
  }

  const grants = new Map<string, Grant>([
    [CLIENT_CREDENTIALS_GRANT, clientCredentials],
    [JWT_BEARER_GRANT, jwtBearer],
  ])

  async function issue(
    ctx: RequestContext,
    grant: Grant,
    { proof, scopes }: { proof: Proof; scopes: readonly string[] },
  ) {
    const { id, domainId } = proof.identity
    const owner = { id, kind: 'service-identity', domainId } as const
    return ctx.change(async (change) => {
      const used = usedAssertionOf(proof)
      if (used !== undefined && !(await store.useAssertion(change.db, used)))
        throw new AssertionRefused(`it was used before by serviceaccount:${id}`)
      const order = {
        owner,
        name: grant.name,
        scopes,
        lifetimeSeconds: TOKEN_SECONDS,
        isHidden: true,
        isSelfIssued: false,
        nowMs: ctx.nowMs,
      }
      const { id: tokenId, token } = await mintGranted(change, order)
      change.emit({
        event: 'identity.ServiceIdentityAuthenticated',
        domainId,
        aggregate: `serviceaccount:${id}`,
        payload: { service_identity_id: id, grant: grant.name, token_id: tokenId },
      })
      return token
    })
  }

  async function exchange(ctx: RequestContext, grant: Grant, body: Request) {
    const proof = await grant.prove(ctx, body)
    const { id, domainId } = proof.identity
    ctx.about(`serviceaccount:${id}`, domainId)
    limits.takeIdentity(id, ctx.nowMs)
    const scopes = scopesOf(body.scope)
    const token = await issue(ctx, grant, { proof, scopes })
    signIns.note(id, ctx.nowMs)
    return { access_token: token, token_type: 'Bearer' as const, expires_in: TOKEN_SECONDS, scope: scopes.join(' ') }
  }

  return {
    async PostAuthServiceToken(ctx, { body }) {
      if (body.grant_type === DEVICE_GRANT) return pollDevice(ctx, devicePollIn(body))
      const grant = grants.get(body.grant_type)
      if (grant === undefined) throw problem('unsupported_grant_type')
      if (body.device_code !== undefined) throw invalidMember('device_code', 'does not go with this grant')
      try {
        return await exchange(ctx, grant, body)
      } catch (error) {
        throw refusalOf(error, { grant, ctx, limits })
      }
    },
  }
}

/** The members of the device grant; devices have no secret, so members that would prove one are refused. @throws Problem `invalid_body` */
function devicePollIn(body: Request): Parameters<PollDevice>[1] {
  if (body.device_code === undefined) throw invalidMember('device_code', 'is missing')
  const unasked = (['client_assertion', 'client_assertion_type', 'assertion', 'scope'] as const).find(
    (name) => body[name] !== undefined,
  )
  if (unasked !== undefined) throw invalidMember(unasked, 'does not go with this grant')
  return { deviceCode: body.device_code, clientId: body.client_id }
}

function invalidMember(name: keyof Request, detail: string): Problem {
  return problem('invalid_body', { errors: [{ pointer: `/${name}`, detail }] })
}

/** Only an assertion with an id can be used up; a JWT-SVID may have no `jti`. */
function usedAssertionOf({ identity, verified: { jti, expiresAt } }: Proof): store.UsedAssertion | undefined {
  if (jti === undefined) return undefined
  return { hash: createHash('sha256').update(`${identity.id}|${jti}`).digest(), expiresAt }
}

/** RFC 6749 §3.3; a parameter without a value counts as absent (§3.2). */
function scopesOf(scope = ''): readonly string[] {
  const scopes = scope.split(' ').filter((name) => name !== '')
  return scopes.length === 0 ? ['*'] : [...new Set(scopes)]
}

interface Refused {
  readonly grant: Grant
  readonly ctx: RequestContext
  readonly limits: WorkloadLimits
}

/** The answer to the caller. Assertions that prove nothing count against the address that they come from. */
function refusalOf(error: unknown, { grant, ctx, limits }: Refused): unknown {
  const isGone = error instanceof Problem && error.code === 'invalid_grant'
  if (!(error instanceof AssertionRefused) && !isGone) return error
  const cause = isGone ? new AssertionRefused('the service identity is gone or disabled', error) : error
  return limits.overAddress(ctx.sourceAddress, ctx.nowMs) ?? problem(grant.refused, {}, cause)
}
