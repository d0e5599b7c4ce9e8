import { describe, expect, it } from 'vitest'
import { formatRoleSubject, parseRoleSubject, requireRoleSubject } from '../../../src/shared/role-subjects.ts'

const ID = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

describe('parseRoleSubject', () => {
  it.each([
    [`user:${ID}`, { type: 'user', id: ID }],
    [`serviceaccount:${ID}`, { type: 'serviceaccount', id: ID }],
    [`group:${ID}#member`, { type: 'group', id: ID }],
    [`user:${ID.toUpperCase()}`, { type: 'user', id: ID }],
  ])('reads %s', (text, subject) => {
    expect(parseRoleSubject(text)).toEqual(subject)
  })

  it.each([
    ['a bare group', `group:${ID}`],
    ['another relation of a group', `group:${ID}#domain`],
    ['a relation of a user', `user:${ID}#member`],
    ['a wildcard', 'user:*'],
    ['the zero UUID', 'user:00000000-0000-0000-0000-000000000000'],
    ['a name', 'user:anna'],
    ['a node', `node:${ID}`],
    ['a type in capitals', `User:${ID}`],
    ['an id alone', ID],
    ['a trailing line break', `user:${ID}\n`],
    ['nothing', ''],
  ])('refuses %s', (_what, text) => {
    expect(parseRoleSubject(text)).toBeUndefined()
  })
})

describe('formatRoleSubject', () => {
  it.each([`user:${ID}`, `serviceaccount:${ID}`, `group:${ID}#member`])('writes %s as it was read', (text) => {
    expect(formatRoleSubject(requireRoleSubject(text))).toBe(text)
  })
})

describe('requireRoleSubject', () => {
  it('says which part of the tuple is wrong', () => {
    expect(() => requireRoleSubject('user:anna')).toThrow(
      expect.objectContaining({
        code: 'invalid_triple',
        extras: {
          part: 'subject',
          reason: 'malformed',
          errors: [
            { pointer: '/subject', detail: 'must be user:<uuid>, serviceaccount:<uuid> or group:<uuid>#member' },
          ],
        },
      }),
    )
  })
})
