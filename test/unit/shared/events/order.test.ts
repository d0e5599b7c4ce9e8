import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEventOrder, HOLES_MAX, type EventOrder, type Place } from '../../../../src/shared/events/order.ts'

const event = (nodeSeq: number, more: { isResync?: true; occurredAtMs?: number } = {}) => ({
  nodeSeq,
  occurredAtMs: 0,
  isResync: false,
  ...more,
})

const takeAll = (order: EventOrder, numbers: readonly number[]): readonly Place['kind'][] =>
  numbers.map((number) => order.take(event(number)).kind)

describe('The order of a node’s events', () => {
  it('begins anywhere where nothing is expected, and goes on by one', () => {
    const order = createEventOrder()
    expect(takeAll(order, [7, 8, 9])).toEqual(['first', 'next', 'next'])
    expect([order.last(), order.missing()]).toEqual([9, 0])
  })

  it('misses what lies between the last number of an earlier run and the first of this one', () => {
    expect(createEventOrder({ last: 0 }).take(event(1))).toEqual({ kind: 'next' })
    expect(createEventOrder({ last: 4 }).take(event(7))).toEqual({ kind: 'gap', from: 5, to: 6 })
  })

  it('takes a late event once, and no longer misses it', () => {
    const order = createEventOrder({ last: 0 })
    expect(takeAll(order, [1, 5, 3, 3, 2, 4, 2, 6])).toEqual([
      'next',
      'gap',
      'reordered',
      'duplicate',
      'reordered',
      'reordered',
      'duplicate',
      'next',
    ])
    expect(order.missing()).toBe(0)
  })

  it('is set forth by the resync frame of a connection, and says how much is not told', () => {
    const order = createEventOrder({ last: 3 })
    order.connected()
    expect(order.take(event(10, { isResync: true }))).toEqual({ kind: 'resync', skipped: 7 })
    expect(order.take(event(11))).toEqual({ kind: 'next' })
    expect(order.missing()).toBe(0)
  })

  it('goes on after a resync frame that repeats the last number', () => {
    const order = createEventOrder({ last: 3 })
    order.connected()
    expect(order.take(event(3, { isResync: true }))).toEqual({ kind: 'resync', skipped: 0 })
    expect(order.take(event(4))).toEqual({ kind: 'next' })
  })

  it('counts a merged hint that says resync like any other event', () => {
    const order = createEventOrder({ last: 3 })
    order.connected()
    expect(order.take(event(4, { isResync: true }))).toEqual({ kind: 'next' })
    expect(order.take(event(7, { isResync: true }))).toEqual({ kind: 'gap', from: 5, to: 6 })
  })

  it('is set back by a newer resync frame, never by one of the past that is played again', () => {
    const order = createEventOrder()
    order.take(event(50, { occurredAtMs: 1000 }))
    order.connected()
    expect(order.take(event(20, { isResync: true, occurredAtMs: 999 }))).toEqual({ kind: 'duplicate' })
    expect(order.last()).toBe(50)
    order.connected()
    expect(order.take(event(20, { isResync: true, occurredAtMs: 1001 }))).toEqual({ kind: 'resync', skipped: 0 })
    expect(order.take(event(21, { occurredAtMs: 1002 }))).toEqual({ kind: 'next' })
  })

  it('remembers a bounded number of holes; what falls out stays missing', () => {
    const order = createEventOrder({ last: 0 })
    for (let hole = 1; hole <= HOLES_MAX + 1; hole += 1) order.take(event(hole * 2))
    expect(order.take(event(1))).toEqual({ kind: 'duplicate' })
    expect(order.take(event(3))).toEqual({ kind: 'reordered' })
    expect(order.missing()).toBe(HOLES_MAX)
  })

  it('agrees with a set of all numbers seen, whatever comes in whatever order', () => {
    const numbers = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 120 })
    fc.assert(
      fc.property(numbers, (sent) => {
        const order = createEventOrder({ last: 0 })
        const seen = new Set<number>()
        for (const number of sent) {
          const highest = Math.max(0, ...seen)
          const { kind } = order.take(event(number))
          const expected =
            number === highest + 1 ? 'next' : number > highest ? 'gap' : seen.has(number) ? 'duplicate' : 'reordered'
          expect(kind).toBe(expected)
          seen.add(number)
          expect(order.last()).toBe(Math.max(...seen))
          expect(order.missing()).toBe(Math.max(...seen) - seen.size)
        }
      }),
    )
  })

  it('takes each number once whatever is repeated and however often the connection begins anew', () => {
    const steps = fc.array(fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constant('connect' as const)), {
      maxLength: 80,
    })
    fc.assert(
      fc.property(steps, (sent) => {
        const order = createEventOrder({ last: 0 })
        const taken = new Set<number>()
        for (const step of sent) {
          if (step === 'connect') order.connected()
          else if (order.take(event(step)).kind !== 'duplicate') {
            expect(taken.has(step)).toBe(false)
            taken.add(step)
          }
        }
      }),
    )
  })
})
