import { createSecretKey } from 'node:crypto'
import { expect, test } from 'vitest'
import { openBytes, sealBytes, sealedUnder } from '../../../../../src/server/adapters/keyring/sealed-bytes.ts'

const KEY = { id: 'k1', secret: createSecretKey(Buffer.alloc(32, 7)) }
const PLACE = { table: 'nodes', column: 'psk_sealed', rowId: 'n1' }
const SECRET = Buffer.from('a preshared key')

test('what is sealed opens in its place and names its key', () => {
  const sealed = sealBytes(KEY, PLACE, SECRET)
  expect(sealedUnder(sealed)).toBe('k1')
  expect(openBytes(KEY, PLACE, sealed)).toEqual(SECRET)
  expect(sealed.includes(SECRET)).toBe(false)
})

test('the same secret never seals to the same bytes', () => {
  expect(sealBytes(KEY, PLACE, SECRET)).not.toEqual(sealBytes(KEY, PLACE, SECRET))
})

test.each([
  ['another table', { ...PLACE, table: 'principals' }],
  ['another column', { ...PLACE, column: 'labels' }],
  ['another row', { ...PLACE, rowId: 'n2' }],
])('bytes moved to %s do not open', (_, place) => {
  expect(() => openBytes(KEY, place, sealBytes(KEY, PLACE, SECRET))).toThrow('unable to authenticate data')
})

test('each altered byte keeps the bytes from opening', () => {
  const sealed = sealBytes(KEY, PLACE, SECRET)
  const opened = sealed.map((byte, at) => {
    const altered = Buffer.from(sealed)
    altered[at] = byte ^ 1
    try {
      openBytes(KEY, PLACE, altered)
      return 1
    } catch {
      return 0
    }
  })
  expect(opened.reduce((sum, one) => sum + one, 0)).toBe(0)
})

test('a key of the same id and other bytes does not open', () => {
  const other = { id: 'k1', secret: createSecretKey(Buffer.alloc(32, 8)) }
  expect(() => openBytes(other, PLACE, sealBytes(KEY, PLACE, SECRET))).toThrow('unable to authenticate data')
})

test.each([[''], ['01'], ['0100'], ['02026b31'], ['01026b31aabb']])('%s are no sealed bytes', (hex) => {
  expect(sealedUnder(Buffer.from(hex, 'hex'))).toBeUndefined()
})
