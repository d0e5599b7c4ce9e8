import { describe, expect, it } from 'vitest'
import { requireRole, toAnswer } from '../../../../../src/server/slices/grants/grant.ts'

const GRANT = {
  id: '01935b5e-8f3a-5c61-9d0a-3f5f3c1d2e4b',
  subject: 'user:01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4c',
  relation: 'admin',
  resource: 'platform:main',
  caveatFields: [],
  domainId: null,
  projectId: null,
  structural: false,
  createdAt: new Date('2026-03-01T08:00:00.123Z'),
}

describe('toAnswer', () => {
  it('shows the tuple without its place', () => {
    expect(toAnswer(GRANT)).toEqual({
      id: '01935b5e-8f3a-5c61-9d0a-3f5f3c1d2e4b',
      subject: 'user:01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4c',
      relation: 'admin',
      resource: 'platform:main',
      created_at: '2026-03-01T08:00:00.123Z',
    })
  })
})

describe('requireRole', () => {
  it.each([
    ['domain', 'operator'],
    ['platform', 'auditor'],
  ] as const)('takes what is a role of the %s: %s', (type, role) => {
    expect(requireRole({ type, id: 'x' }, role)).toBe(role)
  })

  it.each([
    ['domain', 'platform', 'must be a role of the domain: viewer, auditor, operator, admin'],
    ['platform', 'operator', 'must be a role of the platform: viewer, auditor, admin'],
  ] as const)('names the roles of the %s instead of %s', (type, relation, detail) => {
    expect(() => requireRole({ type, id: 'x' }, relation)).toThrow(
      expect.objectContaining({
        code: 'invalid_triple',
        extras: { part: 'relation', reason: 'not_allowed', errors: [{ pointer: '/relation', detail }] },
      }),
    )
  })
})
