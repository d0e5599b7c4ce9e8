import type { deviceFlow } from '../../../shared/contract/device-flow.ts'
import { DEVICE_GRANT } from '../../../shared/contract/oauth-schemas.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { begin, type BeginDeps } from './begin.ts'
import { decide, decidingSession, type Verdict } from './decide.ts'
import { redeem, type RedeemDeps } from './redeem.ts'
import { askedFor, hashOf } from './poll.ts'
import { showUserCode } from './user-code.ts'
import type { WrongCodes } from './wrong-codes.ts'

export interface DeviceFlowDeps extends BeginDeps, RedeemDeps {
  readonly datastore: Datastore
  readonly wrongCodes: WrongCodes
}

/**
 * Answers a poll of a device with its token, once. Both endpoints for the device grant use it.
 *
 * @throws Problem the error of RFC 8628 §3.5 for a sign-in that is not approved
 */
export async function pollDevice(
  deps: RedeemDeps & Pick<DeviceFlowDeps, 'datastore'>,
  ctx: RequestContext,
  { deviceCode, clientId }: { readonly deviceCode: string; readonly clientId: string | undefined },
) {
  const poll = { hash: hashOf(deviceCode), clientId, nowMs: ctx.nowMs }
  const outcome = await askedFor(deps.datastore, poll)
  if (outcome !== 'approved') throw problem(outcome)
  return ctx.change(async (change) => {
    const { owner, answer } = await redeem(deps, change, poll)
    ctx.about(`user:${owner.id}`, owner.domainId)
    return answer
  })
}

/** Serves the device authorization grant (RFC 8628): the two endpoints for the device, approval and refusal. */
export function createDeviceFlow(deps: DeviceFlowDeps): Handlers<typeof deviceFlow> {
  const { datastore, wrongCodes } = deps

  async function decision(ctx: RequestContext, verdict: Verdict, typed: string) {
    const session = decidingSession(ctx.caller)
    const decided = await ctx.change(({ db }) =>
      decide({ db, wrongCodes }, { verdict, typed, session, nowMs: ctx.nowMs }),
    )
    return {
      user_code: showUserCode(decided.user_code),
      status: verdict,
      client_id: decided.client_id,
      scopes: decided.scopes,
      expires_at: decided.expires_at.toISOString(),
    }
  }

  return {
    async PostAuthDeviceCode(ctx, { body }) {
      const place = await deps.bindings.choose(datastore.pool('interactive'), body)
      const order = { ...place, request: body, sourceAddress: ctx.sourceAddress, nowMs: ctx.nowMs }
      const answer = await ctx.change(({ db }) => {
        ctx.about(`domain:${place.domainId}`, place.domainId)
        return begin(deps, db, order)
      })
      return answer
    },

    async PostAuthDeviceToken(ctx, { body }) {
      if (body.grant_type !== undefined && body.grant_type !== DEVICE_GRANT) throw problem('unsupported_grant_type')
      return pollDevice(deps, ctx, { deviceCode: body.device_code, clientId: body.client_id })
    },

    PostAuthDeviceApprove: (ctx, { body }) => decision(ctx, 'approved', body.user_code),
    PostAuthDeviceDeny: (ctx, { body }) => decision(ctx, 'denied', body.user_code),
  }
}
