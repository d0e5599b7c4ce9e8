import { problem } from '../../../shared/problems.ts'
import type { GrantedToken, MintGrantedToken } from '../../ports/token-minting.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { clientShown, pollOutcome } from './device-sign-in.ts'
import type { Poll } from './poll.ts'
import * as store from './store.ts'

export interface RedeemDeps {
  readonly mintToken: MintGrantedToken
}

/**
 * Makes the token of an approved sign-in, once: the row is locked, so of two concurrent polls, one gets it. Whether the user who
 * approved may still sign in is checked now, since minutes may have passed.
 *
 * @throws Problem that of the poll when it is not approved; `access_denied` when the approving user is deleted or disabled
 */
export async function redeem({ mintToken }: RedeemDeps, change: Change, poll: Poll) {
  const signIn = await store.lockByDeviceCode(change.db, poll.hash)
  const outcome = pollOutcome(signIn, poll.clientId, poll.nowMs)
  if (outcome !== 'approved') throw problem(outcome)
  if (signIn === undefined || signIn.decided_by === null) throw new Error('an approved device sign-in names nobody')
  if (!(await store.mayUserSignIn(change.db, signIn.decided_by))) throw problem('access_denied')
  const owner: GrantedToken['owner'] = { id: signIn.decided_by, kind: 'user', domainId: signIn.domain_id }
  await store.noteRedemption(change.db, signIn.id)
  const { token, expiresAt } = await mintToken(change, {
    owner,
    name: clientShown(signIn),
    scopes: signIn.scopes,
    lifetimeSeconds: signIn.token_seconds,
    approvedBy: { acr: signIn.approver_acr, authTime: signIn.approver_auth_time },
    isHidden: false,
    isSelfIssued: true,
    nowMs: poll.nowMs,
  })
  const answer = {
    access_token: token,
    token_type: 'Bearer' as const,
    expires_in: Math.floor((expiresAt.getTime() - poll.nowMs) / 1000),
    scope: signIn.scopes.join(' '),
  }
  return { owner, answer }
}
