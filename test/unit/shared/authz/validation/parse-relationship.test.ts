import { describe, expect, it } from 'vitest'
import { parseRelationship } from '../../../../../src/shared/authz/validation/parse-relationship.ts'
import { TextFault } from '../../../../../src/shared/authz/validation/text-fault.ts'

const plan = { type: 'document', id: 'plan', relation: 'viewer' }
const bob = { type: 'user', id: 'bob', relation: '' }
const plain = { resource: plan, subject: bob, caveat: '', context: undefined, expiresAtMs: undefined }

describe('A relationship', () => {
  it.each([
    ['document:plan#viewer@user:bob', plain],
    ['document:plan#viewer@user:bob#...', plain],
    ['document:plan#viewer@user:*', { ...plain, subject: { ...bob, id: '*' } }],
    ['document:plan#viewer@group:eng#member', { ...plain, subject: { type: 'group', id: 'eng', relation: 'member' } }],
    ['document:plan#viewer@user:bob[office]', { ...plain, caveat: 'office' }],
    ['document:plan#viewer@user:bob[acme/office]', { ...plain, caveat: 'acme/office' }],
    // A caveat may have that name; only an instant makes it an expiration.
    ['document:plan#viewer@user:bob[expiration]', { ...plain, caveat: 'expiration' }],
    ['document:plan#viewer@user:bob[expiration:{"a":1}]', { ...plain, caveat: 'expiration', context: { a: 1 } }],
    ['document:plan#viewer@user:bob[office:{"day":"]}["}]', { ...plain, caveat: 'office', context: { day: ']}[' } }],
    ['document:plan#viewer@user:bob[expiration:1970-01-01T00:00:01Z]', { ...plain, expiresAtMs: 1_000 }],
    ['document:plan#viewer@user:bob[expiration:1970-01-01T00:00:01.5Z]', { ...plain, expiresAtMs: 1_500 }],
    ['document:plan#viewer@user:bob[expiration:1970-01-01T00:00:00-01:00]', { ...plain, expiresAtMs: 3_600_000 }],
    [
      'document:plan#viewer@user:bob[office:{"day":3}][expiration:1970-01-01T00:00:01Z]',
      { ...plain, caveat: 'office', context: { day: 3 }, expiresAtMs: 1_000 },
    ],
  ])('%s', (text, expected) => {
    const { offsets, ...parsed } = parseRelationship(text)
    expect(parsed).toEqual(expected)
    expect(offsets.subject).toBe(21)
  })

  it.each([
    ['', 0],
    ['document', 8],
    ['document:', 9],
    ['document:plan#viewer@', 21],
    ['document:plan#viewer@user', 25],
    ['document:pl%an#viewer@user:bob', 11],
    ['document:plan#Viewer@user:bob', 14],
    ['do:plan#viewer@user:bob', 0],
    ['document:plan#viewer@user:bob#', 30],
    ['document:plan#viewer@user:bob[', 30],
    ['document:plan#viewer@user:bob[office', 36],
    ['document:plan#viewer@user:bob[office:[1]]', 36],
    ['document:plan#viewer@user:bob[expiration:tomorrow]', 41],
    ['document:plan#viewer@user:bob[expiration:2030-13-01T00:00:00Z]', 41],
    ['document:plan#viewer@user:bob[expiration:2030-01-01T00:00:00Z][office]', 62],
    [`document:${'x'.repeat(1025)}#viewer@user:bob`, 9],
  ])('is refused where it goes wrong: %s', (text, offset) => {
    expect(() => parseRelationship(text)).toThrow(TextFault)
    expect(() => parseRelationship(text)).toThrow(expect.objectContaining({ offset }))
  })
})
