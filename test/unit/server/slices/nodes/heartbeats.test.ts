import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createHeartbeats } from '../../../../../src/server/slices/nodes/heartbeats.ts'
import { NO_HINTS } from '../../../../../src/server/slices/nodes/heartbeat-hints.ts'

const SKEW_MAX_MS = 60_000

const heartbeats = createHeartbeats({
  commit: { record: async () => NO_HINTS, drain: async () => undefined },
  marks: { dueOf: () => 0 },
})

/** Whether a heartbeat of that clock is taken at that instant. */
async function isTaken(clientNow: string, nowMs: number): Promise<boolean> {
  const body = { client_now: clientNow, binary_version: '1.0.0', binary_checksum: 'ab'.repeat(32) }
  const context = { nowMs, caller: { domainId: 'd' } } as Parameters<typeof heartbeats.PostNodeHeartbeat>[0]
  try {
    await heartbeats.PostNodeHeartbeat(context, { id: 'n', body })
    return true
  } catch (error) {
    expect(error).toMatchObject({ code: 'clock_skew' })
    return false
  }
}

/** The same instant as a clock `minutes` east of UTC writes it. */
function inZone(ms: number, minutes: number): string {
  const sign = minutes < 0 ? '-' : '+'
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const offset = `${sign}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
  return new Date(ms + minutes * 60_000).toISOString().replace('Z', offset)
}

test('a clock is judged by its distance alone, in whatever minute and zone it is read', async () => {
  const instant = fc.integer({ min: Date.parse('2026-11-23T16:00:00Z'), max: Date.parse('2026-11-23T16:05:00Z') })
  const distance = fc.oneof(
    fc.integer({ min: -70_000, max: 70_000 }),
    fc.constantFrom(-SKEW_MAX_MS - 1, -SKEW_MAX_MS, SKEW_MAX_MS, SKEW_MAX_MS + 1),
  )
  const zone = fc.option(fc.integer({ min: -14 * 60, max: 14 * 60 }), { nil: undefined })
  await fc.assert(
    fc.asyncProperty(instant, distance, zone, async (nowMs, ms, minutes) => {
      const text = minutes === undefined ? new Date(nowMs + ms).toISOString() : inZone(nowMs + ms, minutes)
      expect(await isTaken(text, nowMs)).toBe(Math.abs(ms) <= SKEW_MAX_MS)
    }),
    { numRuns: 2_000 },
  )
})

test('a clock of another zone that shows the minute of UTC is not in step', async () => {
  const nowMs = Date.parse('2026-11-23T16:31:30.000Z')
  expect(await isTaken('2026-11-23T16:31:30.000Z', nowMs)).toBe(true)
  expect(await isTaken('2026-11-23T16:31:30.000+01:00', nowMs)).toBe(false)
})
