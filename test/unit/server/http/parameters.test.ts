import type { FastifyRequest } from 'fastify'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { OperationPlan } from '../../../../src/server/http/operation-plan.ts'
import { parseParameters, pathIdsOf } from '../../../../src/server/http/parameters.ts'
import { parseQueryString } from '../../../../src/server/http/query-string.ts'
import { contract } from '../../../../src/shared/contract/index.ts'
import type { Operation } from '../../../../src/shared/contract/operation.ts'
import { ZERO_UUID } from '../../../../src/shared/ids.ts'

const operations = Object.values(contract).flatMap((surface) => Object.entries<Operation>(surface.operations))
const withIds = operations.flatMap(([id, operation]) => {
  const names = pathIdsOf(operation)
  return names === undefined || names.length === 0 ? [] : [{ id, operation, names }]
})

/** What becomes of a path, with or without the short way for ids as they are stored. */
function outcome(
  operation: Operation,
  pathIds: readonly string[] | undefined,
  params: Record<string, string>,
): unknown {
  // Nothing else of a plan or a request is looked at.
  const plan = { operation, pathIds } as unknown as OperationPlan
  const request = { params, query: parseQueryString('') } as unknown as FastifyRequest
  try {
    return { ...parseParameters(plan, request).path }
  } catch (error) {
    return { refused: (error as { code?: string }).code }
  }
}

const id = fc.oneof(
  fc.uuid(),
  fc.uuid().map((each) => each.toUpperCase()),
  fc.uuid().map((each) => `${each}\n`),
  fc.uuid().map((each) => each.replaceAll('-', '')),
  fc.constant(ZERO_UUID),
  fc.string(),
)

describe('paths of ids', () => {
  test('are those of most operations with a path, and of none that has a name in it', () => {
    expect(withIds.map(({ id: name }) => name)).toContain('PostNodeHeartbeat')
    const named = operations.find(
      ([, { params }]) => params !== undefined && pathIdsOf({ params } as Operation) === undefined,
    )
    expect(named).toBeDefined()
  })

  test.each(withIds)('of $id read the same by the short way as by the schema', ({ operation, names }) => {
    fc.assert(
      fc.property(fc.array(id, { minLength: names.length, maxLength: names.length }), (values) => {
        const params = Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']))
        expect(outcome(operation, names, params)).toEqual(outcome(operation, undefined, params))
      }),
      { numRuns: 50 },
    )
  })
})
