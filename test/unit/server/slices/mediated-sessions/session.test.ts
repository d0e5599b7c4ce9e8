import { describe, expect, it } from 'vitest'
import { isOfKind, newSession, stateAt, toAnswer } from '../../../../../src/server/slices/mediated-sessions/session.ts'

const AT = new Date('2026-03-01T08:00:00.000Z')
const END = new Date('2026-03-01T08:00:10.000Z')
const issue = {
  id: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b',
  projectId: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4c',
  issuedBy: 'user:x',
  at: AT,
}
const NODE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4d'
const body = { node_id: NODE, kind: 'ssh', target: 'root', ttl_seconds: 10 } as const

describe('stateAt', () => {
  const live = { revoked_at: null, ended_at: null, expires_at: END }

  it.each([
    ['live before its expiry', live, END.getTime() - 1, 'live'],
    ['expired from its expiry on, swept or not', live, END.getTime(), 'expired'],
    ['expired once swept', { ...live, ended_at: END }, AT.getTime(), 'expired'],
    ['revoked once revoked', { ...live, revoked_at: AT, ended_at: AT }, AT.getTime(), 'revoked'],
    ['revoked for good', { ...live, revoked_at: AT, ended_at: AT }, END.getTime() + 1, 'revoked'],
  ] as const)('is %s', (_what, session, nowMs, state) => {
    expect(stateAt(session, nowMs)).toBe(state)
  })
})

describe('isOfKind', () => {
  it('goes by the one member of the activity', () => {
    expect(isOfKind({ ssh: { event: 'opened' } }, 'ssh')).toBe(true)
    expect(isOfKind({ ssh: { event: 'opened' } }, 'tcp')).toBe(false)
    expect(isOfKind({ cluster_api: { verb: 'get', path: '/' } }, 'cluster_api')).toBe(true)
  })
})

describe('toAnswer', () => {
  const kept = { ...newSession(issue, body), domain_id: 'd' }

  it('leaves an idle timeout out where there is none', () => {
    expect(toAnswer(kept)).not.toHaveProperty('idle_timeout_seconds')
    expect(toAnswer({ ...kept, idle_timeout_seconds: 60 })).toMatchObject({ idle_timeout_seconds: 60 })
  })

  it('writes instants in UTC with milliseconds, and the id as jti', () => {
    expect(toAnswer(kept)).toMatchObject({
      jti: issue.id,
      session_id: issue.id,
      issued_at: '2026-03-01T08:00:00.000Z',
      expires_at: '2026-03-01T08:00:10.000Z',
      last_active_at: null,
      revoked_at: null,
    })
  })
})
