import { describe, expect, it, test } from 'vitest'
import { apiVersionsOf, majorOf } from '../../../../src/server/http/api-version.ts'
import { planOperations } from '../../../../src/server/http/plan-operations.ts'
import { apiMajorOf } from '../../../../src/shared/contract/api-major.ts'
import { contract } from '../../../../src/shared/contract/index.ts'
import { fixture } from '../../../support/server/fixture-contract.ts'

describe('a server of one major version', () => {
  const versions = apiVersionsOf(['/v1/nodes', '/v1/domains/{id}'])
  it.each(['/v1/nodes', '/v1/nodes?limit=1', '/v1/', '/v1', '/', '/livez', '', '/v2/nodes', '/v10/nodes'])(
    'names it at %j',
    (path) => {
      expect(versions.headerFor(path)).toBe('current=v1, latest=v1')
    },
  )
  it('owns the paths below it alone', () => {
    expect(versions.prefixes).toEqual(['/v1/'])
    expect(['/v1/x', '/v2/x', '/v1', '/v10/x', '/x/v1/'].map((path) => versions.includes(path))).toEqual([
      true,
      false,
      false,
      false,
      false,
    ])
  })
})

describe('a server of several', () => {
  const versions = apiVersionsOf(['/v10/nodes', '/v2/nodes', '/v1/nodes', '/v2/domains'])
  it.each([
    ['/v1/nodes', 'current=v1, latest=v10'],
    ['/v2/nothing', 'current=v2, latest=v10'],
    ['/v10/nodes?limit=1', 'current=v10, latest=v10'],
    ['/v3/nodes', 'current=v10, latest=v10'],
    ['/livez', 'current=v10, latest=v10'],
    ['', 'current=v10, latest=v10'],
  ])('says at %j %s', (path, header) => {
    expect(versions.headerFor(path)).toBe(header)
  })
  it('orders them by number', () => {
    expect(versions.prefixes).toEqual(['/v1/', '/v2/', '/v10/'])
  })
})

test('a path has the major version of its first segment', () => {
  expect(['/v1/x', '/v12/', '/v1', '/vx/y', '/api/v1/x', ''].map(majorOf)).toEqual([
    1,
    12,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test('operations of a later major version have names of their own', () => {
  const later = { GetOpenThing: { ...fixture.operations.GetOpenThing, path: '/v2/fixture/open' } } as const
  const plans = planOperations([
    { name: 'fixture', operations: { GetOpenThing: fixture.operations.GetOpenThing }, handlers: undefined },
    { name: 'fixture', operations: later, handlers: undefined },
  ])
  expect(plans.map(({ id, apiVersion }) => [id, apiVersion])).toEqual([
    ['GetOpenThing', 'current=v1, latest=v2'],
    ['v2:GetOpenThing', 'current=v2, latest=v2'],
  ])
})

test('the product is v1, and a contract is of one major version', () => {
  expect(apiMajorOf(contract)).toBe('v1')
  const later = { GetOpenThing: { ...fixture.operations.GetOpenThing, path: '/v2/fixture/open' } } as const
  expect(() => apiMajorOf({ one: fixture, other: { operations: later } })).toThrow(
    'a contract of v1 and v2 is not of one major version',
  )
})
