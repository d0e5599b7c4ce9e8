import { describe, expect, it } from 'vitest'
import { createCallerTurns } from '../../../../../src/server/http/limits/caller-turns.ts'

/** Turns with a record of what has begun; `end` ends the oldest work of a caller that is still going on. */
function turns(atOnceMax: number, isBusy = () => true, waitMs = 60_000) {
  const made = createCallerTurns({ isBusy, atOnceMax, waitMs })
  const [begun, late]: [string[], string[]] = [[], []]
  const ends = new Map<string, (() => void)[]>()
  return {
    begun,
    late,
    begin(caller: string, name: string) {
      const work = (end: () => void): void => {
        begun.push(name)
        ends.set(caller, [...(ends.get(caller) ?? []), end])
      }
      made.begin(caller, work, () => void late.push(name))
    },
    end: (caller: string) => ends.get(caller)?.shift()?.(),
    made,
  }
}

describe('turns of callers', () => {
  it('let a caller have so many at once, and begin its others in order', () => {
    const { begun, begin, end } = turns(2)
    for (const name of ['a1', 'a2', 'a3', 'a4']) begin('a', name)
    expect(begun).toEqual(['a1', 'a2'])
    end('a')
    expect(begun).toEqual(['a1', 'a2', 'a3'])
    end('a')
    end('a')
    expect(begun).toEqual(['a1', 'a2', 'a3', 'a4'])
  })

  it('do not let one caller wait for another', () => {
    const { begun, begin } = turns(1)
    for (const name of ['a1', 'a2', 'a3']) begin('a', name)
    begin('b', 'b1')
    expect(begun).toEqual(['a1', 'b1'])
  })

  it('hold nobody up where little is under way', () => {
    let isBusy = false
    const { begun, begin } = turns(1, () => isBusy)
    for (const name of ['a1', 'a2']) begin('a', name)
    isBusy = true
    for (const name of ['a3', 'a4']) begin('a', name)
    expect(begun).toEqual(['a1', 'a2', 'a3'])
  })

  it('refuse what waits for too long, and pass over it later', async () => {
    const { begun, late, begin, end } = turns(1, () => true, 5)
    for (const name of ['a1', 'a2']) begin('a', name)
    await expect.poll(() => late).toEqual(['a2'])
    begin('a', 'a3')
    end('a')
    expect([begun, late]).toEqual([['a1', 'a3'], ['a2']])
  })

  it('begin again from nothing once all of a caller has ended', () => {
    const { begun, begin, end } = turns(1)
    begin('a', 'a1')
    end('a')
    begin('a', 'a2')
    begin('a', 'a3')
    expect(begun).toEqual(['a1', 'a2'])
  })

  it('take any number of works that end at once', () => {
    const { made } = turns(1)
    let release = (): void => undefined
    let ended = 0
    const never = (): void => undefined
    const first = (end: () => void): void => {
      release = end
    }
    made.begin('a', first, never)
    for (let index = 0; index < 100_000; index += 1) {
      const work = (end: () => void): void => {
        ended += 1
        end()
      }
      made.begin('a', work, never)
    }
    release()
    expect(ended).toBe(100_000)
  })
})
