import { describe, expect, it } from 'vitest'
import { createCallerQueues } from '../../../../../src/server/http/limits/caller-queues.ts'

/** Queues with a record of the started works; `end` ends the oldest running work of a caller. */
function open(atOnceMax: number, isBusy = () => true, waitMs = 60_000) {
  const made = createCallerQueues({ isBusy, atOnceMax, waitMs })
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

describe('the queues of callers', () => {
  it('run a bounded number of works of a caller concurrently, and the others in order', () => {
    const { begun, begin, end } = open(2)
    for (const name of ['a1', 'a2', 'a3', 'a4']) begin('a', name)
    expect(begun).toEqual(['a1', 'a2'])
    end('a')
    expect(begun).toEqual(['a1', 'a2', 'a3'])
    end('a')
    end('a')
    expect(begun).toEqual(['a1', 'a2', 'a3', 'a4'])
  })

  it('do not make one caller wait for another', () => {
    const { begun, begin } = open(1)
    for (const name of ['a1', 'a2', 'a3']) begin('a', name)
    begin('b', 'b1')
    expect(begun).toEqual(['a1', 'b1'])
  })

  it('delay nothing while the server is not busy', () => {
    let isBusy = false
    const { begun, begin } = open(1, () => isBusy)
    for (const name of ['a1', 'a2']) begin('a', name)
    isBusy = true
    for (const name of ['a3', 'a4']) begin('a', name)
    expect(begun).toEqual(['a1', 'a2', 'a3'])
  })

  it('refuse work that waits too long, and skip it later', async () => {
    const { begun, late, begin, end } = open(1, () => true, 5)
    for (const name of ['a1', 'a2']) begin('a', name)
    await expect.poll(() => late).toEqual(['a2'])
    begin('a', 'a3')
    end('a')
    expect([begun, late]).toEqual([['a1', 'a3'], ['a2']])
  })

  it('start empty again after all works of a caller have ended', () => {
    const { begun, begin, end } = open(1)
    begin('a', 'a1')
    end('a')
    begin('a', 'a2')
    begin('a', 'a3')
    expect(begun).toEqual(['a1', 'a2'])
  })

  it('accept any number of works that end synchronously', () => {
    const { made } = open(1)
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
