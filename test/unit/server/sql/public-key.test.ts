import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { parsePublicKey } from '../../../../src/server/sql/public-key.ts'

const refused = expect.objectContaining({ code: 'invalid_public_key' })
const fromHex = (hex: string) => Buffer.from(hex, 'hex').toString('base64')

test('a key that X25519 made is read to its 32 bytes', () => {
  for (let round = 0; round < 50; round++) {
    const bytes = generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(12)
    expect(parsePublicKey(bytes.toString('base64'))).toEqual(bytes)
  }
})

test('the base point of RFC 7748 is a key like any other', () => {
  expect(parsePublicKey(fromHex(`09${'00'.repeat(31)}`)).length).toBe(32)
})

test.each([
  ['all zeros', '0000000000000000000000000000000000000000000000000000000000000000'],
  ['one', '0100000000000000000000000000000000000000000000000000000000000000'],
  ['the first point of order eight', 'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800'],
  ['the second point of order eight', '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157'],
  ['p - 1', 'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
  ['p, which is zero again', 'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
  ['p + 1, which is one again', 'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
  ['2p - 1', 'd9ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff'],
  ['2p', 'daffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff'],
  ['2p + 1', 'dbffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff'],
])('a point of small order is refused: %s', (_name, hex) => {
  expect(() => parsePublicKey(fromHex(hex))).toThrow(refused)
})

test('a second spelling of an honest key is refused: it would pass for another key of the Domain', () => {
  const bytes = generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(12)
  bytes.writeUInt8(bytes.readUInt8(31) | 0x80, 31)
  expect(() => parsePublicKey(bytes.toString('base64'))).toThrow(refused)
})

test.each([
  ['31 bytes', Buffer.alloc(31, 9).toString('base64')],
  ['33 bytes', Buffer.alloc(33, 9).toString('base64')],
  ['no padding', Buffer.alloc(32, 9).toString('base64').slice(0, -1)],
  ['base64url', Buffer.alloc(32, 0xfb).toString('base64url')],
  ['spare bits set', `${Buffer.alloc(32, 9).toString('base64').slice(0, 42)}l=`],
  ['nothing', ''],
])('text that is not the padded base64 of 32 bytes is refused: %s', (_name, text) => {
  expect(() => parsePublicKey(text)).toThrow(refused)
})
