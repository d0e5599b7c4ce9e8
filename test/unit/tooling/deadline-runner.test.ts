import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))

const TESTS = `
import { beforeAll, describe, test } from 'vitest'
import { writeFileSync } from 'node:fs'
beforeAll(() => writeFileSync(process.env.BEGUN, ''))
test('one', () => {})
describe('some', () => { test('another', () => {}) })
`

describe('a test file that would begin after CTL_TEST_UNTIL', () => {
  let folder: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-deadline-'))
    const config = { test: { runner: join(root, 'test/support/run/deadline-runner.ts') } }
    writeFileSync(join(folder, 'vitest.config.mjs'), `export default ${JSON.stringify(config)}`)
    writeFileSync(join(folder, 'late.test.mjs'), TESTS)
    mkdirSync(join(folder, 'node_modules'))
    mkdirSync(join(folder, 'announced'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  /** How the tests of the file ended, what of its hooks ran, and what was announced. */
  async function run(until: number) {
    const report = join(folder, 'report.json')
    const args = ['run', '--root', folder, '--reporter=json', `--outputFile=${report}`]
    const begun = join(folder, 'begun')
    rmSync(begun, { force: true })
    const env = {
      ...process.env,
      BEGUN: begun,
      CTL_TEST_UNTIL: String(until),
      CTL_TEST_ANNOUNCE: join(folder, 'announced'),
    }
    await promisify(execFile)(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...args], {
      cwd: root,
      env,
    })
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
      testResults: { assertionResults: { status: string }[] }[]
    }
    return {
      statuses: testResults.flatMap((file) => file.assertionResults.map(({ status }) => status)),
      files: readdirSync(folder),
    }
  }

  test('is left out with its hooks, and named', async () => {
    const { statuses, files } = await run(Date.now() / 1_000 - 1)
    expect(statuses).toEqual(['skipped', 'skipped'])
    expect(files).not.toContain('begun')
    expect(readFileSync(join(folder, 'announced.late'), 'utf8')).toBe(`${join(folder, 'late.test.mjs')}\n`)
    expect(readdirSync(join(folder, 'announced'))).toEqual([])
  })

  test('runs while there is time', async () => {
    rmSync(join(folder, 'announced.late'), { force: true })
    const { statuses, files } = await run(Date.now() / 1_000 + 60)
    expect(statuses).toEqual(['passed', 'passed'])
    expect(files).toContain('begun')
    expect(files).not.toContain('announced.late')
  })
})
