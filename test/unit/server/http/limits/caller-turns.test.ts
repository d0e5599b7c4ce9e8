import { describe, expect, it } from 'vitest'
import { createCallerTurns } from '../../../../../src/server/http/limits/caller-turns.ts'

/** Turns with a record of what has begun; `end` ends the oldest work of a caller that is still going on. */
function turns(atOnceMax: number, isBusy = () => true) {
  const made = createCallerTurns({ isBusy, atOnceMax })
  const begun: string[] = []
  const ends = new Map<string, (() => void)[]>()
  return {
    begun,
    begin(caller: string, name: string) {
      made.begin(caller, (end) => {
        begun.push(name)
        ends.set(caller, [...(ends.get(caller) ?? []), end])
      })
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
    made.begin('a', (end) => {
      release = end
    })
    for (let index = 0; index < 100_000; index += 1) {
      made.begin('a', (end) => {
        ended += 1
        end()
      })
    }
    release()
    expect(ended).toBe(100_000)
  })
})
