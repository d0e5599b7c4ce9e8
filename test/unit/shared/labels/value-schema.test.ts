import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertValueSchema, createValueCheck, valueFits } from '../../../../src/shared/labels/value-schema.ts'
import type { ValueSchema } from '../../../../src/shared/labels/schema-types.ts'

const values65 = Array.from({ length: 65 }, (_, i) => `v${i}`)

describe('A value schema', () => {
  test.each<ValueSchema>([
    { type: 'string' },
    { type: 'string', enum: ['prod', 'staging', 'dev'] },
    { type: 'string', enum: values65.slice(1) },
    { type: 'string', const: '' },
    { type: 'string', pattern: '^[a-z]{1,63}$', minLength: 1, maxLength: 63 },
    { type: 'string', minLength: 0, maxLength: 256 },
    { type: 'string', pattern: String.raw`^\p{L}+$`, const: 'é' },
    { type: 'integer', minimum: -9_007_199_254_740_991, maximum: 9_007_199_254_740_991 },
    { type: 'integer', enum: [1, 2], const: 2, minimum: 1 },
    { type: 'boolean' },
    { type: 'boolean', const: true },
    { type: 'boolean', enum: [true, false] },
  ])('%j is one', (schema) => {
    expect(assertValueSchema(schema)).toEqual(schema)
  })

  test.each<[unknown, string]>([
    [null, 'A value schema must be an object.'],
    [[], 'A value schema must be an object.'],
    ['string', 'A value schema must be an object.'],
    [{}, 'type must be string, integer or boolean.'],
    [{ type: 'number' }, 'type must be string, integer or boolean.'],
    [{ type: 'constructor' }, 'type must be string, integer or boolean.'],
    [{ type: ['string'] }, 'type must be string, integer or boolean.'],
    [{ type: 'string', minimum: 1 }, 'A value schema of type string has no member "minimum".'],
    [{ type: 'integer', pattern: 'a' }, 'A value schema of type integer has no member "pattern".'],
    [{ type: 'boolean', maxLength: 1 }, 'A value schema of type boolean has no member "maxLength".'],
    [{ type: 'string', format: 'uri' }, 'A value schema of type string has no member "format".'],
    [JSON.parse('{"type":"string","__proto__":1}'), 'A value schema of type string has no member "__proto__".'],
    [{ type: 'string', enum: [] }, 'enum must be a list of 1 to 64 different values.'],
    [{ type: 'string', enum: 'a' }, 'enum must be a list of 1 to 64 different values.'],
    [{ type: 'string', enum: ['a', 'a'] }, 'enum must be a list of 1 to 64 different values.'],
    [{ type: 'string', enum: values65 }, 'enum must be a list of 1 to 64 different values.'],
    [{ type: 'string', enum: ['a', 1] }, 'enum must hold values of the schema, not 1.'],
    [{ type: 'string', enum: ['ab'], maxLength: 1 }, 'enum must hold values of the schema, not "ab".'],
    [{ type: 'string', enum: ['a', 'B'], pattern: '^[a-z]$' }, 'enum must hold values of the schema, not "B".'],
    [{ type: 'string', enum: ['a'.repeat(257)] }, `enum must hold values of the schema, not "${'a'.repeat(257)}".`],
    [{ type: 'integer', enum: [1.5] }, 'enum must hold values of the schema, not 1.5.'],
    [{ type: 'integer', enum: [1, 5], maximum: 4 }, 'enum must hold values of the schema, not 5.'],
    [{ type: 'boolean', enum: ['true'] }, 'enum must hold values of the schema, not "true".'],
    [{ type: 'string', const: null }, 'const must be a text, an integer or a boolean.'],
    [{ type: 'string', const: ['a'] }, 'const must be a text, an integer or a boolean.'],
    [{ type: 'integer', const: '1' }, 'const must be a value of the schema, not "1".'],
    [{ type: 'integer', const: 3, enum: [1, 2] }, 'const must be a value of the schema, not 3.'],
    [{ type: 'string', const: 'a', minLength: 2 }, 'const must be a value of the schema, not "a".'],
    [{ type: 'string', pattern: 1 }, 'pattern must be a text.'],
    [{ type: 'string', pattern: '(' }, 'pattern must be a pattern of RE2: missing closing ): `(`.'],
    [
      { type: 'string', pattern: '(?=a)' },
      'pattern must be a pattern of RE2: invalid or unsupported Perl syntax: `(?=`.',
    ],
    [{ type: 'string', pattern: '(a)\\1' }, 'pattern must be a pattern of RE2: invalid escape sequence: `\\1`.'],
    [
      { type: 'string', pattern: '((a{100}){100})' },
      'pattern must be a pattern of RE2: invalid repeat count: `{100}`.',
    ],
    [{ type: 'string', pattern: 'a'.repeat(257) }, 'pattern must have at most 256 characters.'],
    [
      { type: 'string', pattern: 'a{1000}b{1000}' },
      'pattern must be smaller: it has more than 2000 instructions, since repetitions are written out.',
    ],
    [{ type: 'string', minLength: -1 }, 'minLength must be an integer from 0 to 256.'],
    [{ type: 'string', maxLength: 257 }, 'maxLength must be an integer from 0 to 256.'],
    [{ type: 'string', maxLength: '1' }, 'maxLength must be an integer from 0 to 256.'],
    [{ type: 'string', minLength: 2, maxLength: 1 }, 'minLength must be at most maxLength.'],
    [{ type: 'integer', minimum: 1.5 }, 'minimum must be a safe integer.'],
    [{ type: 'integer', maximum: 2 ** 53 }, 'maximum must be a safe integer.'],
    [{ type: 'integer', minimum: 2, maximum: 1 }, 'minimum must be at most maximum.'],
  ])('%j is none', (schema, error) => {
    expect(assertValueSchema(schema)).toEqual({ error })
  })

  test('is never assumed: any JSON value is one or has a sentence', () => {
    const members = fc.constantFrom('type', 'enum', 'const', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum')
    const values = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom('string', 'integer', 'boolean', 1, 2, 'a', ['a', 'b']),
    )
    fc.assert(
      fc.property(fc.oneof(fc.dictionary(members, values), fc.jsonValue()), (value) => {
        const schema = assertValueSchema(value)
        if ('error' in schema) expect(schema.error).toMatch(/\.$/)
        else for (const one of schema.enum ?? []) expect(valueFits({ ...schema, const: one }, one)).toBeUndefined()
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('A value', () => {
  test.each<[ValueSchema, unknown, string | undefined]>([
    [{ type: 'string' }, '', undefined],
    [{ type: 'string' }, '🚀'.repeat(256), undefined],
    [{ type: 'string' }, 'a'.repeat(257), 'The value must be a text of at most 256 characters, none of them U+0000.'],
    [{ type: 'string' }, 'a\0', 'The value must be a text of at most 256 characters, none of them U+0000.'],
    [{ type: 'string' }, '\ud800', 'The value must be a text of at most 256 characters, none of them U+0000.'],
    [{ type: 'string' }, 5, 'The value must be a text of at most 256 characters, none of them U+0000.'],
    [{ type: 'integer' }, 5, undefined],
    [{ type: 'integer' }, '5', 'The value must be an integer from -9007199254740991 to 9007199254740991.'],
    [{ type: 'integer' }, 5.5, 'The value must be an integer from -9007199254740991 to 9007199254740991.'],
    [{ type: 'integer' }, 2 ** 53, 'The value must be an integer from -9007199254740991 to 9007199254740991.'],
    [{ type: 'integer' }, -0, 'The value must be an integer from -9007199254740991 to 9007199254740991.'],
    [{ type: 'boolean' }, false, undefined],
    [{ type: 'boolean' }, 'false', 'The value must be true or false.'],
    [{ type: 'boolean' }, null, 'The value must be true or false.'],
    [{ type: 'string', enum: ['a', 'b'] }, 'b', undefined],
    [{ type: 'string', enum: ['a', 'b'] }, 'c', 'The value must be one of a, b.'],
    [
      { type: 'string', enum: values65.slice(0, 11) },
      'c',
      'The value must be one of v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, ….',
    ],
    [{ type: 'integer', const: 0 }, 1, 'The value must be 0.'],
    [{ type: 'string', enum: ['a', 'b'], const: 'a' }, 'b', 'The value must be a.'],
    [{ type: 'string', minLength: 2 }, '🚀', 'The value must have at least 2 characters.'],
    [{ type: 'string', maxLength: 1 }, '🚀', undefined],
    [{ type: 'string', maxLength: 1 }, 'ab', 'The value must have at most 1 character.'],
    [{ type: 'integer', minimum: 3 }, 3, undefined],
    [{ type: 'integer', minimum: 3 }, 2, 'The value must be at least 3.'],
    [{ type: 'integer', maximum: 3 }, 4, 'The value must be at most 3.'],
    [{ type: 'string', pattern: '^eu-[0-9]$' }, 'eu-1', undefined],
    [{ type: 'string', pattern: '^eu-[0-9]$' }, 'eu-1\n', 'The value must match ^eu-[0-9]$.'],
    [{ type: 'string', pattern: 'eu' }, 'my-eu-1', undefined],
    [{ type: 'string', pattern: '^.$' }, '🚀', undefined],
  ])('of %j: %j', (schema, value, expected) => {
    expect(valueFits(schema, value)).toBe(expected)
  })

  test('is searched for a hostile pattern in linear time', () => {
    const check = createValueCheck({ type: 'string', pattern: '^(a|a?)+(a+)+(a*)*$' })
    const begun = performance.now()
    for (let i = 0; i < 100; i += 1)
      expect(check(`${'a'.repeat(255)}!`)).toBe('The value must match ^(a|a?)+(a+)+(a*)*$.')
    expect(performance.now() - begun).toBeLessThan(2_000)
  })

  test('is not checked with a pattern that no schema may have', () => {
    expect(() => createValueCheck({ type: 'string', pattern: '(' })).toThrow(TypeError)
  })
})
