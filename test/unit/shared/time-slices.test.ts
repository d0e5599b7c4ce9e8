import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Steps } from '../../../src/shared/steps.ts'
import { createTimeSlices } from '../../../src/shared/time-slices.ts'

/** Slices over a clock that each step moves by one millisecond. */
function setUp(options: { readonly sliceMs?: number; readonly atOnceMax?: number } = {}) {
  let nowMs = 0
  const steps: string[] = []
  const slices = createTimeSlices({ now: () => nowMs, sliceMs: 5, ...options })
  function* work(name: string, count: number): Steps<string> {
    for (let at = 0; at < count; at++) {
      nowMs++
      steps.push(name)
      yield
    }
    return name
  }
  return { slices, steps, work, now: () => nowMs }
}

const later = (answer: string | Promise<string>): Promise<string> => Promise.resolve(answer)

test('work that ends within the slice is answered at once', () => {
  const { slices, work } = setUp()
  expect(slices.run(work('short', 3))).toBe('short')
})

test('longer work goes on in later turns of the event loop, for one slice in each', async () => {
  const { slices, steps, work } = setUp()
  const answer = slices.run(work('long', 12))
  expect(answer).toBeInstanceOf(Promise)
  expect(steps).toHaveLength(5)
  const seen: number[] = []
  for (let turn = 0; turn < 3; turn++) {
    await nextTurn()
    seen.push(steps.length)
  }
  expect(seen).toEqual([10, 12, 12])
  expect(await answer).toBe('long')
})

test('all work of one turn shares its slice', async () => {
  const { slices, steps, work, now } = setUp()
  const answers = ['a', 'b', 'c', 'd'].map((name) => later(slices.run(work(name, 4))))
  expect(now()).toBe(5)
  expect(steps.join('')).toBe('aaaab')
  expect(await Promise.all(answers)).toEqual(['a', 'b', 'c', 'd'])
})

test('work takes turns, and short work does not wait for long work to end', async () => {
  const { slices, steps, work } = setUp()
  const long = slices.run(work('l', 100))
  const short = slices.run(work('s', 2))
  expect(await short).toBe('s')
  expect(steps.filter((name) => name === 'l').length).toBeLessThan(20)
  expect(await long).toBe('l')
})

test('long work of several gets equal shares', async () => {
  const { slices, steps, work } = setUp()
  const all = ['a', 'b', 'c'].map((name) => later(slices.run(work(name, 50))))
  await Promise.all(all)
  for (const part of [steps.slice(0, 45), steps.slice(0, 90)]) {
    const counts = ['a', 'b', 'c'].map((name) => part.filter((step) => step === name).length)
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(10)
  }
})

test('more work than may be under way waits until some of it has ended', async () => {
  const { slices, steps, work } = setUp({ atOnceMax: 2 })
  const all = ['a', 'b', 'c'].map((name) => later(slices.run(work(name, 20))))
  await Promise.all(all)
  expect(steps.indexOf('c')).toBeGreaterThan(Math.min(steps.lastIndexOf('a'), steps.lastIndexOf('b')))
})

test('work that nobody waits for ends at the next slice, and cleans up', async () => {
  const { slices, work } = setUp()
  const [gone, cleaned] = [new Error('gone'), [] as string[]]
  let isGone = false
  function* careful(): Steps<string> {
    try {
      return yield* work('long', 1_000)
    } finally {
      cleaned.push('cleaned')
    }
  }
  const assertWanted = (): void => {
    if (isGone) throw gone
  }
  const answer = slices.run(careful(), { assertWanted })
  isGone = true
  await expect(answer).rejects.toBe(gone)
  expect(cleaned).toEqual(['cleaned'])
})

test('an error of the work is thrown at once in the first slice, and rejects later', async () => {
  const { slices, work } = setUp()
  function* failing(after: number): Steps<string> {
    yield* work('w', after)
    throw new RangeError('too deep')
  }
  expect(() => slices.run(failing(2))).toThrow('too deep')
  await nextTurn()
  await expect(slices.run(failing(20))).rejects.toThrow('too deep')
  expect(slices.run(work('next', 1))).toBe('next')
})

test('each slice runs within what is around it', async () => {
  const { slices, steps, work } = setUp()
  const around = (slice: () => void): void => {
    steps.push('[')
    slice()
    steps.push(']')
  }
  await slices.run(work('w', 7), { around })
  expect(steps.join('')).toBe('[wwwww][ww]')
})

test('work that waits makes no step once no caller waits for it', async () => {
  const { slices, steps, work } = setUp({ atOnceMax: 1 })
  const long = slices.run(work('l', 30))
  const gone = new Error('gone')
  const assertWanted = (): void => {
    throw gone
  }
  await expect(Promise.resolve(slices.run(work('w', 3), { assertWanted }))).rejects.toBe(gone)
  expect(await long).toBe('l')
  expect(steps).not.toContain('w')
})

test('a third of a slice is left for steps, however long what is around them takes', async () => {
  let nowMs = 0
  const slices = createTimeSlices({ now: () => nowMs, sliceMs: 6 })
  const counts: number[] = []
  function* work(): Steps<string> {
    for (let at = 0; at < 6; at++) {
      nowMs++
      counts.push((counts.pop() ?? 0) + 1)
      yield
    }
    return 'done'
  }
  const around = (slice: () => void): void => {
    nowMs += 100
    counts.push(0)
    slice()
  }
  expect(await slices.run(work(), { around })).toBe('done')
  expect(counts.slice(0, 3)).toEqual([2, 2, 2])
})
