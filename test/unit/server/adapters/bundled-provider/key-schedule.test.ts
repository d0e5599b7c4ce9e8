import { describe, expect, it } from 'vitest'
import { inTurn, isRotationDue, retiredOf } from '../../../../../src/server/adapters/bundled-provider/key-schedule.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const key = (kid: string, createdAtMs: number, alg = 'ES256') => ({ kid, alg, createdAtMs })
const kids = (keys: readonly { readonly kid: string }[]) => keys.map(({ kid }) => kid)

describe('signing keys of the bundled provider', () => {
  it('sign from the start where there is one, and an hour after they are published where there is another', () => {
    const [old, next] = [key('old', 0), key('next', 90 * DAY)]
    expect(kids(inTurn([old], 0))).toEqual(['old'])
    expect(kids(inTurn([next, old], 90 * DAY + HOUR - 1))).toEqual(['old', 'next'])
    expect(kids(inTurn([next, old], 90 * DAY + HOUR))).toEqual(['next', 'old'])
  })

  it('take their turns by algorithm', () => {
    const keys = [key('r2', 90 * DAY, 'RS256'), key('e1', 0), key('r1', 0, 'RS256'), key('e2', 90 * DAY + 5)]
    expect(kids(inTurn(keys, 90 * DAY + HOUR))).toEqual(['e1', 'e2', 'r2', 'r1'])
  })

  it('are followed by the next once the newest is 90 days old, and by none where nobody has used the provider', () => {
    expect(isRotationDue([key('old', 0)], 90 * DAY - 1)).toBe(false)
    expect(isRotationDue([key('old', 0)], 90 * DAY)).toBe(true)
    expect(isRotationDue([key('old', 0), key('next', 90 * DAY)], 91 * DAY)).toBe(false)
    expect(isRotationDue([], 90 * DAY)).toBe(false)
  })

  it('stay published for two hours after the next one signs', () => {
    const keys = [key('old', 0), key('next', 90 * DAY), key('r1', 0, 'RS256')]
    expect(kids(retiredOf(keys, 90 * DAY + 3 * HOUR - 1))).toEqual([])
    expect(kids(retiredOf(keys, 90 * DAY + 3 * HOUR))).toEqual(['old'])
    expect(kids(retiredOf([key('only', 0)], 900 * DAY))).toEqual([])
  })

  it('are signed with by one that is still published, whatever the time', () => {
    const keys = [key('a', 0), key('b', 90 * DAY), key('c', 180 * DAY)]
    for (let at = 0; at <= 181 * DAY; at += 17 * MINUTE) {
      const there = keys.filter(({ createdAtMs }) => createdAtMs <= at)
      expect(kids(retiredOf(there, at))).not.toContain(inTurn(there, at)[0]?.kid)
    }
  })
})
