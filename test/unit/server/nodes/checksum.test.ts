import { expect, test } from 'vitest'
import { checksumHex, parseChecksum } from '../../../../src/server/nodes/checksum.ts'

test.each(['ab'.repeat(32), 'AB'.repeat(32), Buffer.alloc(32, 0xab).toString('base64')])('%s is 32 bytes', (text) => {
  expect(parseChecksum(text)).toEqual(Buffer.alloc(32, 0xab))
  expect(checksumHex(text)).toBe('ab'.repeat(32))
})

test.each(['', 'ab'.repeat(31), 'ab'.repeat(33), Buffer.alloc(31).toString('base64'), `${'ab'.repeat(31)}zz`])(
  '%o is refused',
  (text) => {
    expect(() => parseChecksum(text)).toThrow(expect.objectContaining({ code: 'invalid_checksum' }))
    expect(() => checksumHex(text)).toThrow(expect.objectContaining({ code: 'invalid_checksum' }))
  },
)
