import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compileSchema } from '../../src/shared/authz/language/compile.ts'
import { parseSchema } from '../../src/shared/authz/language/parser.ts'
import { readValidationFile } from '../../src/shared/authz/validation/read-validation-file.ts'
import { validateFile, type FileReport } from '../../src/shared/authz/validation/validate-file.ts'
import type { ValidationFile } from '../../src/shared/authz/validation/validation-file.ts'
import { startOracle, type Oracle } from '../support/authz/spicedb-oracle.ts'
import { ANSWERS, expectedOf, foundBy, questionsOf } from './oracle-questions.ts'

/** Each file holds one rule of the language, and is named after it. */
const FILES = readdirSync(fileURLToPath(new URL('.', import.meta.url))).filter((file) => file.endsWith('.yaml'))

const textOf = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8')

function opened(file: string): { readonly written: ValidationFile; readonly schema: string } {
  const written = readValidationFile(textOf(file))
  expect(written.faults).toEqual([])
  const { schema, schemaFile } = written
  return { written, schema: schemaFile === undefined ? (schema?.text ?? '') : textOf(schemaFile.text) }
}

function validated(file: string, text = textOf(file)): FileReport {
  const { written, schema } = { ...opened(file), written: readValidationFile(text) }
  return validateFile({ file, written, schema: { file, text: schema, locate: (at) => at }, nowMs: Date.now() })
}

describe('The validation files of the language hold on the embedded engine', () => {
  it('and are at least sixty', () => {
    expect(FILES.length).toBeGreaterThanOrEqual(60)
  })

  it.each(FILES)('%s', (file) => {
    const { failures, warnings } = validated(file)
    expect({ failures, warnings }).toEqual({ failures: [], warnings: [] })
  })
})

describe('The validation files of the language hold on SpiceDB', () => {
  let oracle: Oracle
  beforeAll(() => {
    oracle = startOracle()
  })
  afterAll(() => oracle.close())

  it.each(FILES)('%s', async (file) => {
    const { written, schema } = opened(file)
    const { question, assertions, listed } = questionsOf(compileSchema(parseSchema(schema)), schema, written)
    const { answers, subjects } = await oracle.askAll(question)
    expect(answers.slice(0, assertions)).toEqual(written.assertions.map(({ kind }) => ANSWERS[kind]))
    // A set that is listed as a subject holds the permission as such.
    for (const answer of answers.slice(assertions)) expect(['yes', 'unknown']).toContain(answer)
    for (const [index, { query, listed: expected }] of listed.entries()) {
      const found = foundBy(subjects[index], query.subjects[0])
      expect([query.resource, found]).toEqual([query.resource, expectedOf(expected, found)])
    }
  })
})

describe('A validation file that says something else', () => {
  it.each(FILES)('%s: fails for each assertion that is turned around', (file) => {
    const turned = textOf(file)
      .replace(/^( *)assertTrue:/m, '$1assertWas:')
      .replace(/^( *)assertFalse:/m, '$1assertTrue:')
      .replace('assertWas:', 'assertFalse:')
    const kept = readValidationFile(textOf(file)).assertions.filter(({ kind }) => kind === 'assertCaveated').length
    const { failures, assertions } = validated(file, turned)
    expect(failures.filter(({ kind }) => kind === 'assertion')).toHaveLength(assertions - kept)
  })

  it.each(FILES.filter((file) => /^ +- ["']\[/m.test(textOf(file))))(
    '%s: fails without its expected subjects',
    (file) => {
      const { failures } = validated(file, textOf(file).replaceAll(/^ +- ["']\[.*\n/gm, ''))
      const lines = textOf(file).match(/^ +- ["']\[/gm)?.length
      expect(failures).toHaveLength(lines ?? 0)
      expect(failures[0]?.message).toMatch(/^expected no further subject, found \[/)
    },
  )
})
