// Finds phrases and file names that readers stumble over, in the sources and the documentation.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './lib/root.mjs'
import { wordingFaults } from './lib/wording.mjs'

/** Derived from the sources, or a record of what was said. */
const LEFT_OUT = /^(?:docs\/cli\.md|docs\/contract\/|CHANGELOG\.md)/

const tracked = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files', 'src', 'docs', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
const files = tracked.split('\n').filter((path) => /\.(?:tsx?|js|md)$/.test(path) && !LEFT_OUT.test(path))
const faults = files.flatMap((path) => wordingFaults(path, readFileSync(join(root, path), 'utf8')))
for (const fault of faults) process.stdout.write(`${fault}\n`)
process.exitCode = faults.length === 0 ? 0 : 1
