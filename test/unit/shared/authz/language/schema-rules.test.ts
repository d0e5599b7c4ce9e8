import { describe, expect, test } from 'vitest'
import { compileSchema } from '../../../../../src/shared/authz/language/compile.ts'
import { parseSchema } from '../../../../../src/shared/authz/language/parser.ts'
import { SchemaError } from '../../../../../src/shared/authz/language/schema-error.ts'
import { SCHEMA_CASES } from '../../../../support/authz/schemas.ts'

function errorOf(text: string): string | undefined {
  try {
    compileSchema(parseSchema(text))
    return undefined
  } catch (error) {
    if (error instanceof SchemaError) return error.message
    throw error
  }
}

describe('the schema language', () => {
  test.each(SCHEMA_CASES)('$rule', ({ text, error }) => {
    expect(errorOf(text)).toBe(error)
  })

  test('says how deep parentheses may be', () => {
    const deep = (levels: number) => {
      const expression = `${'('.repeat(levels)}boss${')'.repeat(levels)}`
      return `definition user {\n    relation boss: user\n    permission edit = ${expression}\n}`
    }
    expect(errorOf(deep(64))).toBeUndefined()
    expect(errorOf(deep(65))).toBe('3:87: expected at most 64 nested parentheses')
  })
})
