import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createDomainMonitor } from '../../src/server/slices/capacity/domain-monitor.ts'
import { createPendingUsage } from '../../src/server/slices/capacity/pending-usage.ts'
import { depth } from '../support/run/depth.ts'

const DOMAIN = 'a'
const TARGET = 100

/** What happens: one replica counts or cannot write, levels change, totals fall with a restore, or both sample after so many seconds. */
type Step =
  | { readonly does: 'count'; readonly replica: 0 | 1; readonly amount: number }
  | { readonly does: 'block'; readonly replica: 0 | 1; readonly isBlocked: boolean }
  | { readonly does: 'nodes'; readonly count: number }
  | { readonly does: 'restore'; readonly kept: number }
  | { readonly does: 'round'; readonly seconds: number }

const replica = fc.constantFrom<0 | 1>(0, 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('count' as const), replica, amount: fc.nat(3_000) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('block' as const), replica, isBlocked: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('nodes' as const), count: fc.nat(120) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('restore' as const), kept: fc.nat(500) }) },
  {
    weight: 5,
    arbitrary: fc.record({ does: fc.constant('round' as const), seconds: fc.integer({ min: 1, max: 60 }) }),
  },
)

/** Two replicas over one shared total, and what is known of it without them. */
function start() {
  const replicas = [0, 1].map(() => ({ usage: createPendingUsage(), monitor: createDomainMonitor(), isBlocked: false }))
  let total = 0
  let nodes = 0
  let elapsedMs = 0

  function flush({ usage, isBlocked }: (typeof replicas)[number]): boolean {
    if (isBlocked) return false
    const deltas = usage.pending()
    for (const { delta } of deltas) total += delta
    usage.written(deltas)
    return true
  }

  function round(seconds: number): void {
    elapsedMs += seconds * 1_000
    const flushed = replicas.map(flush)
    replicas.forEach(({ monitor }, index) => {
      const counted = new Map([['sse_fanout' as const, BigInt(total)]])
      monitor.observe(
        {
          domainIds: [DOMAIN],
          levels: new Map([[DOMAIN, new Map([['nodes' as const, nodes]])]]),
          totals: flushed[index] === true ? new Map([[DOMAIN, counted]]) : undefined,
          targetOf: () => TARGET,
        },
        { nowMs: 0, elapsedMs },
      )
    })
  }

  return {
    replicas,
    total: () => total,
    take(one: Step): void {
      if (one.does === 'count') replicas[one.replica]?.usage.count('sse_fanout', DOMAIN, one.amount)
      else if (one.does === 'block') Object.assign(replicas[one.replica] ?? {}, { isBlocked: one.isBlocked })
      else if (one.does === 'nodes') nodes = one.count
      else if (one.does === 'restore') total = Math.min(total, one.kept)
      else round(one.seconds)
    },
  }
}

type World = ReturnType<typeof start>

const uses = ({ replicas }: World, dimension: string) =>
  replicas.map(({ monitor }) => {
    const use = monitor.of(DOMAIN)?.dimensions.find((one) => one.dimension === dimension)
    return use && { used: use.used, isOver: use.isOver }
  })

const runs = depth({ ci: 500, deep: 20_000 })

test('two replicas agree on levels and on their states, whatever either cannot write', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const world = start()
      // Both have a first sample of everything.
      world.take({ does: 'round', seconds: 15 })
      for (const one of steps) {
        world.take(one)
        const [first, second] = uses(world, 'nodes')
        expect(first).toEqual(second)
      }
    }),
    { numRuns: runs },
  )
})

test('two replicas agree on rates again with the second sample after both could write', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.nat(3_000), (steps, amount) => {
      const world = start()
      for (const one of steps) world.take(one)
      for (const index of [0, 1] as const) world.take({ does: 'block', replica: index, isBlocked: false })
      world.take({ does: 'round', seconds: 10 })
      world.take({ does: 'count', replica: 0, amount })
      world.take({ does: 'round', seconds: 10 })
      const [first, second] = uses(world, 'sse_fanout')
      expect(first?.used).toBe(amount / 10)
      expect(second?.used).toBe(amount / 10)
      // Between the bounds a state follows from the past, which they may have seen differently.
      const ratio = amount / 10 / TARGET
      if (ratio >= 0.8 || ratio < 0.75) expect(first?.isOver).toBe(second?.isOver)
    }),
    { numRuns: runs },
  )
})

test('without a restore everything that was counted is in the total or pending, and no rate is negative or infinite', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const world = start()
      let counted = 0
      for (const one of steps.filter(({ does }) => does !== 'restore')) {
        world.take(one)
        if (one.does === 'count') counted += one.amount
        const pending = world.replicas.flatMap(({ usage }) => usage.pending().map(({ delta }) => delta))
        expect(pending.reduce((sum, delta) => sum + delta, world.total())).toBe(counted)
        for (const use of uses(world, 'sse_fanout')) {
          expect(use?.used ?? 0).toBeGreaterThanOrEqual(0)
          expect(Number.isFinite(use?.used ?? 0)).toBe(true)
        }
      }
    }),
    { numRuns: runs },
  )
})
