import { expect, test, vi } from 'vitest'
import { base62OfBytes, randomBase62 } from '../../../src/shared/base62.ts'
import { crc32 } from '../../../src/shared/crc32.ts'
import {
  mintApiToken,
  mintJoinToken,
  mintNsk,
  parseApiToken,
  parseJoinToken,
  parseNsk,
} from '../../../src/shared/credential-formats.ts'

const ID = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const RANDOM = '003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf'
/** Vectors computed with Python's zlib over the bytes 0..31. */
const API_TOKEN = `psk_local_01935b5e8f3a7c619d0a3f5f3c1d2e4b_${RANDOM}0C5x78`
const JOIN_TOKEN = `jtk_local_01935b5e8f3a7c619d0a3f5f3c1d2e4b_${RANDOM}3cTKas`
const NSK = 'nsk_local_01935b5e8f3a7c619d0a3f5f3c1d2e4b_0aZ9xY7b_-_8AAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0'

test('CRC-32 of the check string is the published one', () => {
  expect(crc32('123456789')).toBe(0xcbf43926)
})

test('32 bytes fill 43 base62 digits, the largest as well as zero', () => {
  expect(base62OfBytes(new Uint8Array(32).fill(255), 43)).toBe('yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1')
  expect(base62OfBytes(new Uint8Array(32), 43)).toBe('0'.repeat(43))
  expect(
    base62OfBytes(
      Uint8Array.from({ length: 32 }, (_, i) => i),
      43,
    ),
  ).toBe(RANDOM)
})

test('random base62 redraws bytes that would favour the first digits', () => {
  const bytes = [248, 255, 61, 0]
  const draw = vi.spyOn(crypto, 'getRandomValues').mockImplementation((target) => {
    ;(target as unknown as Uint8Array)[0] = bytes.shift() ?? 0
    return target
  })
  expect(randomBase62(2)).toBe('z0')
  draw.mockRestore()
})

test('the vectors parse to their fields', () => {
  const prefix = '_local_01935b5e8f3a7c619d0a3f5f3c1d2e4b'
  expect(parseApiToken(API_TOKEN)).toEqual({ env: 'local', id: ID, prefix: `psk${prefix}` })
  expect(parseJoinToken(JOIN_TOKEN)).toEqual({ env: 'local', id: ID, prefix: `jtk${prefix}` })
  expect(parseNsk(NSK)).toEqual({
    env: 'local',
    nodeId: ID,
    kid: '0aZ9xY7b',
    key: Uint8Array.from([0xfb, 0xff, ...Array.from({ length: 30 }, (_, i) => i)]),
  })
})

test.each([
  ['a wrong digit in the random part', API_TOKEN.replace('_003a', '_103a')],
  ['a wrong digit in the checksum', API_TOKEN.replace(/8$/, '9')],
  ['another environment under the old checksum', API_TOKEN.replace('_local_', '_prod_')],
  ['an upper-case id', API_TOKEN.replace('8f3a7c61', '8F3A7C61')],
  ['a missing digit', API_TOKEN.slice(0, -1)],
  ['a trailing line break', `${API_TOKEN}\n`],
  ['a join token', JOIN_TOKEN],
  ['nothing', ''],
])('%s is no API token', (_, text) => {
  expect(parseApiToken(text)).toBeUndefined()
})

test.each([
  ['an API token', API_TOKEN],
  ['a key in a spelling that is not canonical', NSK.replace(/0$/, '1')],
  ['a key of 31 bytes', NSK.slice(0, -1)],
  ['a short key id', NSK.replace('_0aZ9xY7b_', '_0aZ9xY7_')],
])('%s is no node secret key', (_, text) => {
  expect(parseNsk(text)).toBeUndefined()
})

test('an API token is no join token', () => {
  expect(parseJoinToken(API_TOKEN)).toBeUndefined()
})

test('what is minted parses back, and never twice alike', () => {
  const minted = Array.from({ length: 200 }, () => mintApiToken('prod1', ID))
  expect(minted.map(({ token }) => parseApiToken(token))).toEqual(
    minted.map(() => ({ env: 'prod1', id: ID, prefix: 'psk_prod1_01935b5e8f3a7c619d0a3f5f3c1d2e4b' })),
  )
  expect(new Set(minted.map(({ token }) => token)).size).toBe(200)
  const join = mintJoinToken('local', ID)
  expect(parseJoinToken(join.token)?.prefix).toBe(join.prefix)
  const keys = Array.from({ length: 200 }, () => mintNsk('local', ID))
  expect(keys.map(({ nsk }) => parseNsk(nsk)?.kid)).toEqual(keys.map(({ kid }) => kid))
  expect(keys.every(({ nsk }) => parseNsk(nsk)?.key.length === 32)).toBe(true)
})

test.each(['', 'Prod', 'a_b', 'a'.repeat(17)])('the environment name %j is refused', (env) => {
  expect(() => mintApiToken(env, ID)).toThrow('the environment name must be 1 to 16 of a-z and 0-9')
})
