import { describe, expect, it, test } from 'vitest'
import { flattened } from '../../../../scripts/lib/compat/all-of.mjs'
import { differences } from '../../../../scripts/lib/compat/differences.mjs'

const Problem = {
  type: 'object',
  required: ['code'],
  properties: { code: { type: 'string' }, detail: { type: 'string' } },
}
const components = { schemas: { Problem } }

function withCodes(...codes: readonly string[]) {
  const code = { anyOf: [{ type: 'string', enum: codes }, { type: 'string' }] }
  return { allOf: [{ $ref: '#/components/schemas/Problem' }, { type: 'object', properties: { code } }] }
}

describe('parts of allOf are read as one schema', () => {
  it('members of every part, and a narrower member instead of the plain one', () => {
    expect(flattened({ components }, withCodes('slug_conflict'))).toEqual({
      type: 'object',
      required: ['code'],
      properties: {
        code: { anyOf: [{ type: 'string', enum: ['slug_conflict'] }, { type: 'string' }] },
        detail: { type: 'string' },
      },
    })
  })

  it('a member is required where one part requires it', () => {
    const schema = { allOf: [{ required: ['a'] }, { required: ['b', 'a'] }], required: ['c'] }
    expect(flattened({}, schema)).toEqual({ required: ['a', 'b', 'c'] })
  })

  it('what parts set differently is not lost', () => {
    expect(flattened({}, { allOf: [{ maxLength: 9 }, { maxLength: 3 }] })).toEqual({
      maxLength: 9,
      allOf: [{ maxLength: 3 }],
    })
  })

  it('parts that nest without an end are refused', () => {
    const schemas = { Loop: { allOf: [{ $ref: '#/components/schemas/Loop' }] } }
    expect(() => flattened({ components: { schemas } }, { $ref: '#/components/schemas/Loop' })).toThrow(
      'allOf nests deeper than 16 levels',
    )
  })
})

function documentOf(schema: object, codes: readonly string[]) {
  const answer = { content: { 'application/problem+json': { schema } }, 'x-service-codes': codes }
  return { paths: { '/v1/things': { get: { operationId: 'GetThings', responses: { 409: answer } } } }, components }
}

const findings = (base: object, next: object) =>
  differences({ base, next }).map(({ level, id, detail }: Record<string, string>) => `${level} ${id} ${detail}`)

test('naming the codes of an answer is compatible', () => {
  const base = documentOf({ $ref: '#/components/schemas/Problem' }, ['slug_conflict'])
  const next = documentOf(withCodes('slug_conflict'), ['slug_conflict'])
  expect(findings(base, next)).toEqual([
    'INFO problem-shape-added response 409 application/problem+json.code: a new alternative: {"enum":["slug_conflict"],"type":"string"}',
  ])
})

test('a code that is gone is found beside the open enumeration', () => {
  const base = documentOf(withCodes('slug_conflict', 'stale'), ['slug_conflict', 'stale'])
  const next = documentOf(withCodes('stale'), ['stale'])
  expect(findings(base, next)).toContain('WARN problem-code-removed slug_conflict is no longer answered')
})

test('a required member that goes from a part is a break', () => {
  const part = { type: 'object', required: ['error'], properties: { error: { type: 'string' } } }
  const base = documentOf({ allOf: [{ $ref: '#/components/schemas/Problem' }, part] }, [])
  const next = documentOf({ allOf: [{ $ref: '#/components/schemas/Problem' }] }, [])
  expect(findings(base, next)).toEqual([
    'ERR response-property-removed response 409 application/problem+json: the member error is gone',
  ])
})
