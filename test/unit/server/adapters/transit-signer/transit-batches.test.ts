import { expect, test } from 'vitest'
import { batchesOf } from '../../../../../src/server/adapters/transit-signer/batches.ts'

const MIB = 1024 * 1024

test.each([
  ['no texts', [], []],
  ['400 texts', Array.from({ length: 400 }, () => 1), [400]],
  ['401 texts', Array.from({ length: 401 }, () => 1), [400, 1]],
  ['texts of 4 MiB together', [MIB, MIB, MIB, MIB], [4]],
  ['a byte more', [MIB, MIB, MIB, MIB, 1], [4, 1]],
  ['a text that is larger than a part', [1, 5 * MIB, 1], [1, 1, 1]],
])('%s make parts of the right sizes, in order', (_what, sizes, parts) => {
  const batch = sizes.map((size) => Buffer.alloc(size))
  const divided = batchesOf(batch)
  expect(divided.map((part) => part.length)).toEqual(parts)
  expect(divided.flat().every((text, index) => text === batch[index])).toBe(true)
})
