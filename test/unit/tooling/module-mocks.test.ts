import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { MODULE_MOCKS } from '../../support/run/projects.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const MOCK = /\bvi\.(?:do)?[mM]ock\(/

test('a test that replaces a module does not share its process', () => {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  const tests = files.filter((file) => file.endsWith('.test.ts')).map((file) => `test/${file}`)
  const mocking = tests.filter((file) => MOCK.test(readFileSync(join(ROOT, file), 'utf8')))
  expect(mocking.toSorted()).toEqual([...MODULE_MOCKS].toSorted())
})
