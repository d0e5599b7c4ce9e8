import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readValidationFile } from '../../src/shared/authz/validation/read-validation-file.ts'
import { reportFaults, validateFile, type FileReport } from '../../src/shared/authz/validation/validate-file.ts'

const FOLDER = fileURLToPath(new URL('broken/', import.meta.url))

/** Each file has one thing wrong, and begins with what is to be said of it, and where. */
const FILES = readdirSync(FOLDER)

function reported(text: string): FileReport {
  const written = readValidationFile(text)
  if (written.faults.length > 0) return reportFaults('it', written)
  const schema = { file: 'it', text: written.schema?.text ?? '', locate: written.schema?.locate ?? ((at) => at) }
  return validateFile({ file: 'it', written, schema, nowMs: Date.now() })
}

describe('A broken validation file is told with line, column and what was expected', () => {
  it.each(FILES)('%s', (file) => {
    const text = readFileSync(`${FOLDER}${file}`, 'utf8')
    const expected = [...text.matchAll(/^# (\d+:\d+: .*)$/gm)].map(([, line]) => line)
    const { failures, isPassed } = reported(text)
    expect(failures.map(({ line, column, message }) => `${line}:${column}: ${message}`)).toEqual(expected)
    expect(expected.length).toBeGreaterThan(0)
    expect(isPassed).toBe(false)
  })
})
