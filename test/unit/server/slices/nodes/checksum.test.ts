import { expect, test } from 'vitest'
import { Checksum } from '../../../../../src/shared/contract/node-schemas.ts'
import { checksumHex, parseChecksum } from '../../../../../src/server/slices/nodes/checksum.ts'

test.each(['ab'.repeat(32), 'AB'.repeat(32), Buffer.alloc(32, 0xab).toString('base64')])('%s is 32 bytes', (text) => {
  expect(parseChecksum(text)).toEqual(Buffer.alloc(32, 0xab))
  expect(checksumHex(text)).toBe('ab'.repeat(32))
})

const malformed = ['', 'ab'.repeat(31), 'ab'.repeat(33), Buffer.alloc(31).toString('base64'), `${'ab'.repeat(31)}zz`]

test.each(malformed)('%o is refused', (text) => {
  expect(() => parseChecksum(text)).toThrow(expect.objectContaining({ code: 'invalid_checksum' }))
  // The contract's pattern is what keeps 64 other characters from it.
  expect(Checksum.safeParse(text).success).toBe(false)
})
