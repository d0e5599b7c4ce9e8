import { pullSoon } from '../../../client/agent/state/state-pull.ts'
import type { MemberDeps } from '../../../client/agent/agent-deps.ts'
import { ProblemAnswer, TransportFailure } from '../../../client/failures.ts'
import type { SessionSetupPayload } from '../../../shared/events/wire-types.ts'
import {
  createSessionTokenVerifier,
  sessionOf,
  type SessionTokenFault,
  type SignedClaims,
} from '../../../shared/events/session-token.ts'
import type { FindKey, VerifySignature } from '../../../shared/events/verifier.ts'
import type { SignatureKey } from '../../../shared/audit/signed-position.ts'
import type { Member } from '../../../client/agent/member.ts'

/** A session whose token was shown, and the subject that it was issued to; or why the connection is refused. */
export type Admission =
  | { readonly ok: true; readonly session: SessionSetupPayload; readonly subject: string }
  /** `unavailable`: the server, whose keys are needed, cannot be asked. */
  | { readonly ok: false; readonly fault: SessionTokenFault | 'unavailable' }

/** What admission needs. */
export interface AdmissionDeps {
  readonly agent: MemberDeps<Member>
  readonly member: Member
  readonly findKey: FindKey
  readonly verify: VerifySignature
  /** Sessions that are over for this agent, although the state may have them still. */
  readonly isOver: (sessionId: string) => boolean
}

/** How long a connection waits for the pull that may bring its session. */
const PULL_MS_MAX = 5_000
const LOOK_EVERY_MS = 20

/** Makes the check of tokens: the rules of the protocol in their order. An unknown session is pulled for once. */
export function createAdmission(deps: AdmissionDeps): (token: string) => Promise<Admission> {
  const { agent, member, verify, isOver } = deps
  const verifyToken = createSessionTokenVerifier({ findKey: keptKeys(deps.findKey), verify })

  async function liveSessionOf(claims: SignedClaims) {
    const known = sessionOf(claims, member.liveSessions)
    if (known !== 'not_live') return known
    await pulled(agent, member)
    return sessionOf(claims, member.liveSessions)
  }

  return async (token) => {
    try {
      const nowSeconds = Math.floor(agent.clock.now() / 1000)
      const verified = await verifyToken(token, { nodeId: member.identity.node_id, nowSeconds })
      if (!verified.ok) return verified
      const { claims } = verified
      if (isOver(String(claims.jti))) return { ok: false, fault: 'not_live' }
      const session = await liveSessionOf(claims)
      if (typeof session === 'string') return { ok: false, fault: session }
      return { ok: true, session, subject: String(claims.sub) }
    } catch (error) {
      if (error instanceof TransportFailure || error instanceof ProblemAnswer)
        return { ok: false, fault: 'unavailable' }
      throw error
    }
  }
}

/** Pulls the state, and resolves once that has ended. */
async function pulled(agent: AdmissionDeps['agent'], member: Member): Promise<void> {
  const deadlineMs = agent.clock.now() + PULL_MS_MAX
  pullSoon(agent, member, 0)
  while (member.pulling.state !== 'idle' && agent.clock.now() < deadlineMs && !agent.until.aborted)
    await agent.clock.pause(LOOK_EVERY_MS, agent.until)
}

/** Finds a key that was found before also while the server is away: it signed what it signed. */
function keptKeys(findKey: FindKey): FindKey {
  const kept = new Map<string, SignatureKey>()
  return async (kid) => {
    try {
      const key = await findKey(kid)
      if (key === undefined) kept.delete(kid)
      else kept.set(kid, key)
      return key
    } catch (error) {
      const key = kept.get(kid)
      if (key === undefined) throw error
      return key
    }
  }
}
