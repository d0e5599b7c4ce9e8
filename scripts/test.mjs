// Runs every test that this machine can run, then says what was skipped and what would enable it.
// Arguments go to vitest. The last line is for scripts: `N passed, N failed, N skipped`.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { REQUIREMENTS } from '../test/support/requirements.mjs'
import { root } from './lib/root.mjs'

const scratch = mkdtempSync(join(tmpdir(), 'ctl-test-'))

/** Runs vitest; its report is undefined when it ended before it could write one. */
function runTests() {
  const report = join(scratch, 'report.json')
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const { status } = spawnSync(process.execPath, [vitest, 'run', ...reporters, ...process.argv.slice(2)], {
    cwd: root,
    stdio: 'inherit',
  })
  try {
    return { status, report: JSON.parse(readFileSync(report, 'utf8')) }
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    return { status, report: undefined }
  }
}

/** A file that fails before its first test counts as one failure. */
function count({ status, report }) {
  if (report === undefined) return { passed: 0, failed: 1, skipped: 0 }
  const results = report.testResults.flatMap((file) => file.assertionResults.map((test) => test.status))
  const of = (...states) => results.filter((state) => states.includes(state)).length
  const broken = report.testResults.filter((file) => file.status === 'failed' && !hasFailure(file)).length
  const failed = of('failed') + broken
  return {
    passed: of('passed'),
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped: of('pending', 'skipped', 'todo'),
  }
}

function hasFailure(file) {
  return file.assertionResults.some((test) => test.status === 'failed')
}

function describeSkips(report) {
  const lines = (report?.testResults ?? []).flatMap((file) => {
    const skipped = file.assertionResults.filter((test) => test.status !== 'passed' && test.status !== 'failed').length
    return skipped === 0 ? [] : [`  ${relative(root, file.name)}: ${skipped}`]
  })
  const missing = Object.entries(REQUIREMENTS).filter(([, { find }]) => find() === undefined)
  const remedies = missing.map(
    ([name, { enable }]) => `  ${name} is not on this machine; enable its tests with: ${enable}`,
  )
  return lines.length === 0 ? [] : ['Skipped:', ...lines, ...remedies]
}

try {
  const run = runTests()
  const { passed, failed, skipped } = count(run)
  for (const line of describeSkips(run.report)) process.stdout.write(`${line}\n`)
  process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`)
  process.exitCode = failed === 0 ? 0 : 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
