import { describe, expect, it } from 'vitest'
import { readValidationFile } from '../../../../../src/shared/authz/validation/read-validation-file.ts'

describe('The place of a text in a validation file', () => {
  it.each([
    [
      'a literal block',
      'schema: |-\n    definition user {}\n\n      x\n',
      { line: 3, column: 3 },
      { line: 4, column: 7 },
    ],
    ['a block with a comment', '# c\nschema: | # here\n  a\n  bc\n', { line: 2, column: 2 }, { line: 4, column: 4 }],
    ['a folded block', 'schema: >-\n  one\n  more\n\n  two\n', { line: 2, column: 2 }, { line: 5, column: 4 }],
    ['quotes', 'schema: "definition"\n', { line: 1, column: 3 }, { line: 1, column: 12 }],
    ['no quotes', 'schema: definition\n', { line: 1, column: 3 }, { line: 1, column: 11 }],
    ['quotes with escapes: their beginning', 'schema: "a\\nb"\n', { line: 2, column: 1 }, { line: 1, column: 9 }],
    ['Windows line ends', 'schema: |-\r\n  a\r\n  b\r\n', { line: 2, column: 1 }, { line: 3, column: 3 }],
  ])('is found in %s', (_, text, within, expected) => {
    expect(readValidationFile(text).schema?.locate(within)).toEqual(expected)
  })
})

describe('A validation file that would cost too much', () => {
  it.each([
    ['brackets', `schema: ${'['.repeat(1_000_000)}`],
    ['braces', `schema: ${'{a: '.repeat(500_000)}`],
    ['dashes', '- '.repeat(1_000_000)],
  ])('of nothing but %s is refused before it is built', (_, text) => {
    const [fault] = readValidationFile(text).faults
    expect(fault?.message).toBe('expected YAML that is nested at most 64 deep')
  })

  it('with thousands of unknown keys is warned of twenty', () => {
    const keys = Array.from({ length: 5_000 }, (_, index) => `key${index}: 1\n`).join('')
    expect(readValidationFile(`schema: definition user {}\n${keys}`).warnings).toHaveLength(20)
  })
})

it('A misspelt section is warned of, with the one that was meant', () => {
  const { warnings } = readValidationFile('schema: definition user {}\nassertion: {}\n')
  const message = '"assertion" is not a section and is passed over; did you mean "assertions"?'
  expect(warnings).toEqual([{ line: 2, column: 1, kind: 'yaml', message }])
})
