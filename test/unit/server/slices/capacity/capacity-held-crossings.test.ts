import { expect, test } from 'vitest'
import { createHeldCrossings } from '../../../../../src/server/slices/capacity/held-crossings.ts'

const CROSSING = { domainId: 'a', dimension: 'nodes', isFirst: false } as const
const at = (elapsedMs: number) => ({ nowMs: 1_000_000 + elapsedMs, elapsedMs })

function create() {
  let id = 0
  return createHeldCrossings({ ids: { next: () => `id-${(id += 1)}` }, intervalMs: 15_000 })
}

test('a crossing that could not be recorded is due again with the next sample', () => {
  const held = create()
  held.sampled([CROSSING], at(0))
  const [crossing] = held.due()
  if (crossing === undefined) throw new Error('nothing is due')
  expect(crossing).toMatchObject({ ...CROSSING, correlationId: 'id-1' })
  held.failed(crossing)
  expect(held.due()).toEqual([])
  held.sampled([], at(15_000))
  expect(held.due()).toEqual([crossing])
  expect(held.failures()).toBe(1)
  held.settled(crossing)
  expect(held.due()).toEqual([])
})

test('a replica that does not lead keeps a crossing for ten minutes', () => {
  const held = create()
  held.sampled([CROSSING], at(0))
  held.sampled([], at(600_000))
  expect(held.due()).toHaveLength(1)
  held.sampled([], at(600_001))
  expect(held.due()).toEqual([])
})

test('it keeps what it was over at its start for two intervals', () => {
  const held = create()
  held.sampled([{ ...CROSSING, isFirst: true }], at(0))
  held.sampled([], at(30_000))
  expect(held.due()).toHaveLength(1)
  held.sampled([], at(30_001))
  expect(held.due()).toEqual([])
})

test('what a leader has tried stays until it is settled', () => {
  const held = create()
  held.sampled([{ ...CROSSING, isFirst: true }], at(0))
  for (const crossing of held.due()) held.failed(crossing)
  held.sampled([], at(86_400_000))
  expect(held.due()).toHaveLength(1)
})

test('the oldest of too many are dropped', () => {
  const held = create()
  held.sampled(
    Array.from({ length: 10_005 }, (_, index) => ({ ...CROSSING, domainId: `d${index}` })),
    at(0),
  )
  expect(held.due()).toHaveLength(10_000)
  expect(held.due()[0]?.domainId).toBe('d5')
})
