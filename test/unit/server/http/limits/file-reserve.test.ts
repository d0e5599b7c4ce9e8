import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fileReserveOf } from '../../../../../src/server/http/limits/file-reserve.ts'

it.each([
  { max: 20_000, own: 167, forStreams: 1_167, forConnections: 167 },
  { max: 1_024, own: 167, forStreams: 219, forConnections: 167 },
  // Fewer than 64 are not left to what is no stream.
  { max: 1_000, own: 4, forStreams: 64, forConnections: 4 },
  // Where the limit is low, both are cut.
  { max: 200, own: 167, forStreams: 100, forConnections: 50 },
  { max: 40, own: 384, forStreams: 20, forConnections: 10 },
])(
  'of $max files with $own of the server, $forStreams are kept from streams and $forConnections from connections',
  (row) => {
    const { max, own, ...reserve } = row
    expect(fileReserveOf(max, own)).toEqual(reserve)
  },
)

it('leaves at least half of the files to streams, and keeps more from streams than from connections', () => {
  fc.assert(
    fc.property(fc.integer({ min: 8, max: 2_000_000 }), fc.integer({ min: 1, max: 10_000 }), (max, own) => {
      const { forStreams, forConnections } = fileReserveOf(max, own)
      expect(forStreams).toBeLessThanOrEqual(max / 2)
      expect(forConnections).toBeLessThan(forStreams)
      expect(forConnections).toBeGreaterThanOrEqual(1)
    }),
  )
})
