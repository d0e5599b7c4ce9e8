import { expect, test } from 'vitest'
import { conditionVerdict } from '../../../../../src/shared/authz/caveats/condition-verdict.ts'
import { NO, UNKNOWN, VIOLATED, YES } from '../../../../../src/shared/authz/engine/verdict.ts'
import type { CaveatModel } from '../../../../../src/shared/authz/model.ts'

const adult: CaveatModel = { name: 'adult', parameters: [{ name: 'age', type: 'int' }], expression: 'age >= 18' }
const holds = conditionVerdict({ nowMs: 1_000, context: { age: 17 } })
const always = { caveat: undefined, domainId: null, context: undefined, expiresAtMs: Infinity }

test('a tuple counts until the instant at which it expires', () => {
  expect(holds({ ...always, expiresAtMs: 1_001 })).toBe(YES)
  expect(holds({ ...always, expiresAtMs: 1_000 })).toBe(NO)
  expect(holds({ ...always, caveat: adult, context: { age: 18 }, expiresAtMs: 1_000 })).toBe(NO)
})

test('what the tuple says outranks what the question says', () => {
  expect(holds({ ...always, caveat: adult })).toBe(VIOLATED)
  expect(holds({ ...always, caveat: adult, context: { age: 18 } })).toBe(YES)
  expect(holds({ ...always, caveat: adult, context: { name: 'ann' } })).toBe(VIOLATED)
})

test('a caveat without its values is not known', () => {
  expect(conditionVerdict({ nowMs: 0, context: {} })({ ...always, caveat: adult })).toBe(UNKNOWN)
})
