import { expect, test } from 'vitest'
import { capabilitiesWork } from '../../../../src/cli/agent/capabilities.ts'

const [SECOND, HOUR] = [1_000, 3_600_000]

test('capabilities that the server did not take are reported again, and those that it has after an hour', async () => {
  const refused = Array.from({ length: 8 }, () => false)
  const ends = [false, new Error('the program cannot be read'), false, true, true, ...refused]
  const { work, everyMs } = capabilitiesWork({
    report: async () => {
      const end = ends.shift()
      if (end instanceof Error) throw end
      return end === true
    },
  })
  const pauses: number[] = []
  while (ends.length > 0) {
    await work().catch(() => undefined)
    pauses.push(everyMs())
  }
  expect(pauses.slice(0, 5)).toEqual([30 * SECOND, 60 * SECOND, 120 * SECOND, HOUR, HOUR])
  expect(pauses.slice(5)).toEqual([30, 60, 120, 240, 480, 960, 1_920, 3_600].map((seconds) => seconds * SECOND))
})
