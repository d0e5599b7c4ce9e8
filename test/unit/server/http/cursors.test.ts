import { createHmac, createSecretKey } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createKeyring, type Ring, type RingKey } from '../../../../src/server/adapters/keyring/ring.ts'
import { createCursors, type CursorBinding } from '../../../../src/server/http/cursors.ts'

const key = (id: string, byte: number): RingKey => ({
  id,
  purpose: 'cursor',
  secret: createSecretKey(Buffer.alloc(32, byte)),
})

/** Cursors over these keys, current first. */
function cursorsOver(...keys: readonly [RingKey, ...RingKey[]]) {
  const other = [key('other', 9)] as const
  const ring: Ring = { cursor: keys, fingerprint: other, pseudonym: other, sealing: other, session: other }
  return createCursors(createKeyring(ring))
}

const DOMAIN = '01935b5e-8f3a-7c61-9d0a-000000000001'
const list: CursorBinding = {
  operationId: 'ListThings',
  paging: { limit: 'rejected', cursor: 'operation' },
  parent: [DOMAIN],
  subject: 'user:01935b5e-8f3a-7c61-9d0a-000000000031',
}
const ownList: CursorBinding = { ...list, paging: { limit: 'rejected', cursor: 'caller' } }

const cursors = cursorsOver(key('current0', 1))

describe('a cursor', () => {
  it('opens to the position that it was made of', () => {
    for (const position of [['a'], ['2026-03-01T08:00:00.000Z', DOMAIN], ['é"\\ ', '']]) {
      expect(cursors.decode(cursors.encode(position, list), list)).toEqual(position)
      expect(cursors.decode(cursors.encode(position, ownList), ownList)).toEqual(position)
    }
  })

  it('has one length, whatever the row and the caller', () => {
    // A login has 254 characters at most, and no other position is longer.
    const lengths = [['a'], ['x'.repeat(63)], ['2026-03-01T08:00:00.000Z', DOMAIN], ['x'.repeat(254)]].flatMap(
      (position) => [cursors.encode(position, list).length, cursors.encode(position, ownList).length],
    )
    expect(new Set(lengths)).toEqual(new Set([555]))
  })

  it('does not tell whether two of them name the same row', () => {
    expect(cursors.encode(['a'], list)).not.toBe(cursors.encode(['a'], list))
  })

  it('shows neither position nor caller', () => {
    const bytes = Buffer.from(cursors.encode(['acme-industries', DOMAIN], ownList), 'base64url')
    for (const text of ['acme', DOMAIN, ownList.subject, 'user:']) expect(bytes.includes(text)).toBe(false)
  })

  it('is bound to its operation and its parent', () => {
    const cursor = cursors.encode(['a'], list)
    const others: readonly CursorBinding[] = [
      { ...list, operationId: 'ListOthers' },
      { ...list, parent: [DOMAIN.replace(/1$/, '2')] },
      { ...list, parent: [] },
      { ...list, parent: [DOMAIN, ''] },
    ]
    for (const other of others) {
      expect(() => cursors.decode(cursor, other)).toThrow(expect.objectContaining({ code: 'invalid_cursor' }))
    }
  })

  it('of another caller is a mismatch where the list binds callers, and nothing else', () => {
    const other = { subject: 'user:01935b5e-8f3a-7c61-9d0a-000000000032' }
    expect(() => cursors.decode(cursors.encode(['a'], ownList), { ...ownList, ...other })).toThrow(
      expect.objectContaining({ code: 'cursor_binding_mismatch' }),
    )
    expect(cursors.decode(cursors.encode(['a'], list), { ...list, ...other })).toEqual(['a'])
  })

  it('opens under a retired key, and under none that the ring does not have', () => {
    const [old, current] = [key('retired0', 1), key('current0', 2)]
    const cursor = cursorsOver(old).encode(['a'], list)
    expect(cursorsOver(current, old).decode(cursor, list)).toEqual(['a'])
    expect(() => cursorsOver(current).decode(cursor, list)).toThrow(expect.objectContaining({ code: 'invalid_cursor' }))
  })

  it('of the first format is invalid, although its signature is sound', () => {
    const payload = JSON.stringify([1, '', 'a'])
    const mac = createHmac('sha256', Buffer.alloc(32, 1)).update(`ListThings\n${payload}`).digest().subarray(0, 16)
    const cursor = Buffer.concat([mac, Buffer.from(`current0\n${payload}`)]).toString('base64url')
    expect(() => cursors.decode(cursor, list)).toThrow(expect.objectContaining({ code: 'invalid_cursor' }))
  })

  it.each(['', 'x', 'AAAA', 'A'.repeat(43), 'A'.repeat(555), 'A'.repeat(2000)])('%j is invalid', (cursor) => {
    expect(() => cursors.decode(cursor, list)).toThrow(expect.objectContaining({ code: 'invalid_cursor' }))
  })
})
