import { describe, expect, test } from 'vitest'
import { createKnownBridges } from '../../../../../../src/cli/agent/bridges/ingress/known-bridges.ts'

describe('What an earlier agent has left', () => {
  test('is known once each bridge of the host was applied', () => {
    const known = createKnownBridges()
    known.applied('one')
    expect([known.areAllKnown(), known.isKnown('one'), known.isKnown('two')]).toEqual([false, true, false])
    known.pulled(new Set(['one', 'two']))
    expect([known.areAllKnown(), known.isKnown('two'), known.isKnown('gone')]).toEqual([false, false, true])
    known.applied('two')
    expect(known.areAllKnown()).toBe(true)
  })

  test('is not known where a bridge failed, or is hosted again', () => {
    const known = createKnownBridges()
    known.pulled(new Set(['one']))
    known.applied('one')
    known.failed('one')
    expect([known.areAllKnown(), known.isKnown('one')]).toEqual([false, false])
    known.applied('one')
    known.pulled(new Set())
    expect(known.areAllKnown()).toBe(true)
    known.pulled(new Set(['one']))
    expect(known.areAllKnown()).toBe(false)
  })
})
