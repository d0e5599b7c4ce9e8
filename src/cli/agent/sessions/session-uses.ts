import { attempt } from '../../../client/agent/calls/attempt.ts'
import type { MemberDeps } from '../../../client/agent/agent-deps.ts'
import { createPacedLimiter } from '../../../client/agent/calls/paced-limiter.ts'
import { createPacer } from '../../../client/agent/calls/pacer.ts'
import type { SessionSetupPayload } from '../../../shared/events/wire-types.ts'
import type { Log } from '../log.ts'
import type { Member } from '../../../client/agent/member.ts'
import { createSessionUse, type SessionUse } from './session-use.ts'

/** The sessions that are in use. */
export interface SessionUses {
  /** The use of a live session, which begins where it had none. */
  of(session: SessionSetupPayload): SessionUse
  /** Whether that use has not ended. */
  has(use: SessionUse): boolean
  /** Whether a session has ended for this agent: by time, without use, or because the server said it. */
  isOver(sessionId: string): boolean
  /** Cuts the sessions that are no longer live. */
  liveChanged(): void
  list(): readonly SessionUse[]
  /** Cuts all. */
  close(): void
}

/** What it needs. */
export interface UsesDeps {
  readonly agent: MemberDeps<Member>
  readonly member: Member
  readonly log: Log
}

const LOOK_EVERY_MS = 200
/** The server allows a node 10 calls a second, and other calls need room beside these. */
const REPORTS_PER_SECOND = 4
const NOT_LIVE = 'it is not live any more'
/** Refusals that mean that the session has ended. */
const OVER = ['session_not_found', 'session_already_revoked']

/** Follows the sessions: reports their use, and ends them by time, without use, and when they are revoked. */
export function createSessionUses({ agent, member, log }: UsesDeps): SessionUses {
  const { clock, tasks, until } = agent
  const uses = new Map<string, SessionUse>()
  const over = new Set<string>()
  const paced = createPacedLimiter(createPacer(clock, REPORTS_PER_SECOND), 2)
  let isLooking = false

  function end(use: SessionUse, why: string): void {
    const { session_id: id } = use.session
    if (uses.get(id) !== use) return
    uses.delete(id)
    over.add(id)
    log.line(`sessions: ${id} ended: ${why}`)
    use.cut()
  }

  function look(use: SessionUse): void {
    const nowMs = clock.now()
    if (!member.liveSessions.has(use.session.session_id)) return end(use, NOT_LIVE)
    if (Date.parse(use.session.expires_at) <= nowMs) return end(use, 'its time is over')
    const found = use.look(nowMs)
    if (found === 'idle') return end(use, 'it was idle for too long')
    if (found === 'done') uses.delete(use.session.session_id)
    if (found === 'report') tasks.track(report(use))
    return undefined
  }

  async function report(use: SessionUse): Promise<void> {
    const { activity, settled } = use.report(clock.now())
    let isTaken = false
    await paced(until, async () => {
      const outcome = await attempt(agent, member, {
        operation: 'session',
        isRepeatable: true,
        toleratedCodes: OVER,
        call: (token) =>
          agent.client.PostSessionActivity(
            { id: member.identity.node_id, session_id: use.session.session_id, body: activity },
            { token },
          ),
      })
      isTaken = outcome.ok
      if (!outcome.ok && OVER.includes(outcome.code)) end(use, `the server has ended it (${outcome.code})`)
    })
    settled(isTaken)
  }

  async function looks(): Promise<void> {
    for (const use of uses.values()) look(use)
    isLooking = false
    lookSoon()
  }

  function lookSoon(): void {
    if (isLooking || uses.size === 0) return
    isLooking = true
    tasks.schedule(LOOK_EVERY_MS, looks)
  }

  return {
    of(session) {
      const use = uses.get(session.session_id) ?? createSessionUse(session, clock.now())
      uses.set(session.session_id, use)
      lookSoon()
      return use
    },
    has: (use) => uses.get(use.session.session_id) === use,
    isOver: (id) => over.has(id),
    liveChanged() {
      for (const id of over) if (!member.liveSessions.has(id)) over.delete(id)
      for (const [id, use] of uses) if (!member.liveSessions.has(id)) end(use, NOT_LIVE)
    },
    list: () => [...uses.values()],
    close: () => uses.forEach((use) => use.cut()),
  }
}
