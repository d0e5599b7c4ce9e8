import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSpanSet } from '../../../../src/server/bridges/span-set.ts'
import { overlaps, spanOf } from '../../../../src/shared/bridges/subnet.ts'

/** Few networks of both families, so that they meet. */
const subnet = fc.oneof(
  fc.tuple(fc.integer({ min: 0, max: 15 }), fc.integer({ min: 28, max: 32 })).map(([host, length]) => {
    return `10.0.0.${host & (0xff << (32 - length)) & 0xff}/${length}`
  }),
  fc.integer({ min: 0, max: 3 }).map((group) => `fd00:0:0:${group}::/64`),
)

test('a set of networks finds those that overlap, and none where none does', () => {
  fc.assert(
    fc.property(fc.array(subnet, { maxLength: 20 }), (subnets) => {
      const set = createSpanSet<string>()
      const added: string[] = []
      for (const text of subnets) {
        const others = added.filter((other) => overlaps(spanOf(other), spanOf(text)))
        expect(set.overlapping(spanOf(text)).toSorted()).toEqual(others.toSorted())
        if (others.length > 0) continue
        set.add(spanOf(text), text)
        added.push(text)
      }
    }),
  )
})
