import { describe, expect, test } from 'vitest'
import { createEdgeLedger } from '../../../../src/cli/agent-sim/edge-ledger.ts'

const KEY = new Uint8Array(32).fill(1)
const OTHER_KEY = new Uint8Array(32).fill(2)
const [T1, T2] = ['2026-01-01T00:00:00.000000001Z', '2026-01-01T00:00:00.000000002Z']

/** What the lower and the higher end hold of one edge whose halves are these. */
const low = (own: string, peer: string, key = KEY) => ({ nodeId: 'a', peerId: 'b', epoch: { own, peer }, key })
const high = (own: string, peer: string, key = KEY) => ({ nodeId: 'b', peerId: 'a', epoch: { own, peer }, key })

describe('The keys of both ends of an edge', () => {
  test('agree if they have one epoch, with the own half first at each end', () => {
    const ledger = createEdgeLedger()
    expect([ledger.put(low(T1, T2)), ledger.put(high(T2, T1))]).toEqual(['first', 'agrees'])
    expect(ledger.totals()).toEqual({ agreeing: 1, stale: 0 })
  })

  test('differ if one epoch has two keys', () => {
    const ledger = createEdgeLedger()
    expect([ledger.put(low(T1, T2)), ledger.put(high(T2, T1, OTHER_KEY))]).toEqual(['first', 'differs'])
  })

  test('differ if one end gets two keys for one epoch', () => {
    const ledger = createEdgeLedger()
    expect([ledger.put(low(T1, T2)), ledger.put(low(T1, T2, OTHER_KEY))]).toEqual(['first', 'differs'])
  })

  test('are not compared across epochs, and the edge is stale until the other end follows', () => {
    const ledger = createEdgeLedger()
    ledger.put(high(T1, T1))
    expect(ledger.put(low(T2, T1, OTHER_KEY))).toBe('first')
    expect(ledger.totals()).toEqual({ agreeing: 0, stale: 1 })
    expect(ledger.put(high(T1, T2, OTHER_KEY))).toBe('agrees')
    expect(ledger.totals()).toEqual({ agreeing: 1, stale: 0 })
  })

  test('say nothing of a node that was cut off', () => {
    const ledger = createEdgeLedger()
    ledger.put(high(T1, T1))
    ledger.put(low(T2, T1))
    ledger.forget('b')
    expect(ledger.totals()).toEqual({ agreeing: 0, stale: 0 })
  })
})
