// Runs every test that this machine can run, then says what failed, what was skipped and what would enable it.
// Arguments go to vitest. The last line is for scripts: `N passed, N failed, N skipped`.
// On CI a few files that failed are run once more, alone: what passes then is named as unsteady, not hidden.
// CTL_TEST_UNTIL, in seconds since the epoch, is when the last file may begin: what is left out is named, and counts as skipped.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { REQUIREMENTS } from '../test/support/run/requirements.mjs'
import { watchTests } from './lib/overdue-tests.mjs'
import { root } from './lib/root.mjs'

const scratch = mkdtempSync(join(tmpdir(), 'ctl-test-'))

/** More failures than a busy machine explains are not tried again. */
const AT_MOST_AGAIN = 6

/** The longest file took seven minutes on the slowest machine known; what is done a hundred times as often may take longer. */
const FILE_MAX_MS = process.env.CTL_TEST_DEPTH === 'deep' ? 12 * 3_600_000 : 12 * 60_000

/** Longer than it takes to start the next file, or to write the report. */
const IDLE_MAX_MS = 180_000

/** How long after CTL_TEST_UNTIL the last of the failed files may begin again. */
const AGAIN_SECONDS = 540

const linesOf = (path) => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [])

/**
 * Runs vitest. Its report is undefined when it ended before it could write one. `late`: files that it left out; `overdue`: files
 * whose process had to be ended.
 */
async function runTests(args, env = {}) {
  const report = join(scratch, 'report.json')
  const announced = join(scratch, 'announced')
  rmSync(report, { force: true })
  for (const kind of ['late', 'hooks']) rmSync(`${announced}.${kind}`, { force: true })
  mkdirSync(announced, { recursive: true })
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const hookErrors = join(root, 'test/support/run/hook-errors.ts')
  const reporters = ['default', 'json', hookErrors].map((name) => `--reporter=${name}`)
  const child = spawn(process.execPath, [vitest, 'run', ...reporters, `--outputFile.json=${report}`, ...args], {
    cwd: root,
    env: { ...process.env, ...env, CTL_TEST_ANNOUNCE: announced },
    stdio: 'inherit',
  })
  const overdue = []
  const watch = watchTests({
    folder: announced,
    fileMaxMs: FILE_MAX_MS,
    idleMaxMs: IDLE_MAX_MS,
    everyMs: 10_000,
    onOverdue: (file) => overdue.push(file),
    onIdle() {
      process.stdout.write(`Nothing ran for ${IDLE_MAX_MS / 1_000} s, but vitest did not end.\n`)
      child.kill('SIGKILL')
    },
  })
  const [status] = await once(child, 'exit')
  watch.stop()
  const late = linesOf(`${announced}.late`)
  const hooks = linesOf(`${announced}.hooks`).map((line) => JSON.parse(line))
  // Vitest wrote none where it crashed.
  const written = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined
  return { status, overdue, late, hooks, report: written }
}

/** A file that fails before its first test counts as one failure. */
function count({ status, overdue, report }) {
  if (report === undefined) return { passed: 0, failed: 1, skipped: 0 }
  const results = report.testResults.flatMap((file) => file.assertionResults.map((test) => test.status))
  const of = (...states) => results.filter((state) => states.includes(state)).length
  const broken = report.testResults.filter((file) => file.status === 'failed' && !hasFailure(file)).length
  const failed = of('failed') + broken + overdue.length
  return {
    passed: of('passed'),
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped: of('pending', 'skipped', 'todo'),
  }
}

function hasFailure(file) {
  return file.assertionResults.some((test) => test.status === 'failed')
}

const failedFiles = (report) => (report?.testResults ?? []).filter((file) => file.status === 'failed')

/** A line per test that failed, or per hook or file that failed before its first test, or per file that did not end. */
function failures({ overdue, hooks, report }) {
  const late = overdue.map((file) => `${relative(root, file)}: did not end within ${FILE_MAX_MS / 60_000} minutes`)
  const wrong = failedFiles(report).flatMap((file) => {
    const name = relative(root, file.name)
    const firstLine = (text) => (text ?? '').split('\n', 1)[0].slice(0, 300)
    const failed = file.assertionResults.filter((test) => test.status === 'failed')
    const ofHooks = hooks.filter((each) => each.file === file.name)
    if (failed.length === 0 && ofHooks.length > 0)
      return ofHooks.map(({ suite, message }) => `${name} > a hook of ${suite}: ${firstLine(message)}`)
    if (failed.length === 0) return [`${name}: ${firstLine(file.message)}`]
    return failed.map((test) => `${name} > ${test.fullName}: ${firstLine(test.failureMessages[0])}`)
  })
  return [...late, ...wrong]
}

/** The run with its failed files tried again, one at a time, and what failed before. */
async function tryAgain(run) {
  const again = [...run.overdue, ...failedFiles(run.report).map((file) => file.name)]
  if (process.env.CI === undefined || again.length === 0 || again.length > AT_MOST_AGAIN) return { run, before: [] }
  process.stdout.write(`\nOnce more, alone: ${again.map((name) => relative(root, name)).join(', ')}\n`)
  const second = await runTests(again, { VITEST_MAX_WORKERS: '1', ...untilLater() })
  // Without a report nothing is known to have passed; files that were left out then have failed as before.
  if (second.report === undefined || second.late.length > 0) return { run, before: [] }
  const others = run.report.testResults.filter((file) => !again.includes(file.name))
  const report = { testResults: [...others, ...second.report.testResults] }
  const { status, overdue, hooks } = second
  return { run: { ...run, status, overdue, hooks, report }, before: failures(run) }
}

function untilLater() {
  const until = process.env.CTL_TEST_UNTIL
  return until === undefined ? {} : { CTL_TEST_UNTIL: String(Number(until) + AGAIN_SECONDS) }
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

function describeLate(late) {
  if (late.length === 0) return []
  return ['Not run, the time was up (npm test runs them):', ...late.map((file) => `  ${relative(root, file)}`)]
}

// Vitest ends what runs; its end is waited for.
process.on('SIGINT', () => undefined)
try {
  const { run, before } = await tryAgain(await runTests(process.argv.slice(2)))
  const { passed, failed, skipped } = count(run)
  for (const line of [...describeSkips(run.report), ...describeLate(run.late)]) process.stdout.write(`${line}\n`)
  for (const line of before) process.stdout.write(`UNSTEADY  ${line}\n`)
  for (const line of failures(run)) process.stdout.write(`FAILED  ${line}\n`)
  process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`)
  process.exitCode = failed === 0 ? 0 : 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
