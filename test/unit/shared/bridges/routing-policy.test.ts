import { describe, expect, it } from 'vitest'
import { routingPolicyFault } from '../../../../src/shared/bridges/routing-policy.ts'

/** An object of so many levels. */
const nested = (levels: number): unknown =>
  JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`) as unknown

describe('A routing policy', () => {
  it.each([
    ['an empty object', {}],
    ['any members', { routes: ['10.0.0.0/8'], isDefault: false, metric: 1.5, via: null }],
    ['4,096 bytes', { a: 'x'.repeat(4096 - '{"a":""}'.length) }],
    ['4,096 bytes of longer characters', { a: 'é'.repeat((4096 - '{"a":""}'.length) / 2) }],
    ['32 levels', nested(32)],
  ])('may be %s', (_what, policy) => {
    expect(routingPolicyFault(policy)).toBeUndefined()
  })

  it.each([
    ['4,097 bytes', { a: 'x'.repeat(4097 - '{"a":""}'.length) }, 'must be at most 4096 bytes of JSON'],
    ['33 levels', nested(33), 'must be at most 32 levels deep'],
    ['32 arrays in it', JSON.parse(`{"a":${'['.repeat(32)}${']'.repeat(32)}}`), 'must be at most 32 levels deep'],
    ['more levels than the stack has room for', nested(60_000), 'must be at most 32 levels deep'],
    ['a number beyond a double', JSON.parse('{"a":1e400}'), 'must hold only numbers in the range of a double'],
  ])('has not %s', (_what, policy, rule) => {
    expect(routingPolicyFault(policy)).toBe(rule)
  })
})
