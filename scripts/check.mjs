// Runs every static check, all of them even when one fails, and says how each went.
// The last line is for scripts: `N passed, N failed, N skipped`.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from './lib/root.mjs'

const bin = (name) => join(root, 'node_modules/.bin', name)

/** What it is called, what runs, and how to mend what it finds. */
const CHECKS = [
  { name: 'format', command: bin('oxfmt'), args: ['--check'], mend: 'npm run format' },
  { name: 'lint', command: bin('oxlint'), args: ['--type-aware', '--deny-warnings'], mend: 'mend what it names' },
  { name: 'types', command: bin('tsc'), args: ['-p', '.'], mend: 'mend what it names' },
  {
    name: 'types of the console',
    command: bin('tsc'),
    args: ['--noEmit', '-p', 'src/console'],
    mend: 'mend what it names',
  },
  { name: 'wording', command: process.execPath, args: ['scripts/wording.mjs'], mend: 'write what it says instead' },
  { name: 'unused code', command: bin('knip'), args: ['--no-progress'], mend: 'delete what it names' },
  { name: 'build', command: process.execPath, args: ['scripts/prepare.mjs'], mend: 'npm run build' },
  {
    name: 'generated files',
    command: process.execPath,
    args: ['scripts/generate.mjs', '--check'],
    mend: 'npm run generate',
  },
]

function passes({ name, command, args, mend }) {
  const startedAt = Date.now()
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1)
  if (status === 0) {
    process.stdout.write(`ok      ${name} (${seconds} s)\n`)
    return true
  }
  process.stdout.write(`${stdout ?? ''}${stderr ?? ''}${error ? `${error.message}\n` : ''}`)
  process.stdout.write(`FAILED  ${name} (${seconds} s): ${mend}\n`)
  return false
}

const results = CHECKS.map(passes)
const passed = results.filter(Boolean).length
process.stdout.write(`${passed} passed, ${results.length - passed} failed, 0 skipped\n`)
process.exitCode = passed === results.length ? 0 : 1
