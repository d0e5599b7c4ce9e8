import { expect, test } from 'vitest'
import { NumberMap } from '../../../../../../src/shared/authz/engine/lookup/number-map.ts'
import { createRandom } from '../../../../../fuzz/authz/random.ts'

test('a map of numbers holds what a plain map holds, before and after it is shared out', () => {
  const random = createRandom(5)
  const numbers = new NumberMap<number>()
  const plain = new Map<number, number>()
  const sorted = (entries: Iterable<[number, number]>) => [...entries].toSorted(([a], [b]) => a - b)
  for (let step = 1; step <= 60_000; step++) {
    const key = random.below(40_000) * 7
    if (random.chance(0.2)) {
      numbers.delete(key)
      plain.delete(key)
    } else {
      numbers.set(key, step)
      plain.set(key, step)
    }
    const asked = random.below(40_000) * 7
    if (numbers.get(asked) !== plain.get(asked) || numbers.has(asked) !== plain.has(asked)) expect.fail(`at ${step}`)
    if (numbers.size !== plain.size) expect.fail(`size at ${step}`)
    if (step % 20_000 === 0 || step === 1_000) expect(sorted(numbers)).toEqual(sorted(plain))
  }
  expect(numbers.size).toBeGreaterThan(16_384)
  expect([...numbers.keys()].toSorted((a, b) => a - b)).toEqual([...plain.keys()].toSorted((a, b) => a - b))
})
