// Compares the dependencies with the newest that the registry has and that the oldest supported Node can run. What is held
// back has its reason in scripts/held-back.json; a package that is behind without a reason fails, and so does a reason that
// no longer holds. Run it with the oldest supported major of Node: npm leaves out what needs another one.
// The last line is for scripts: `N passed, N failed, N skipped`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { judge } from './lib/outdated.mjs'
import { run } from './lib/package-manager.mjs'
import { root } from './lib/root.mjs'

const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))

/** The newest version of one package, and the Node that it needs. */
async function newestOf(name) {
  const { code, stdout, stderr } = await run('npm', ['view', name, 'version', 'engines', '--json'], { cwd: root })
  const found = code === 0 ? JSON.parse(stdout) : undefined
  // npm prints one member alone as its bare value.
  if (code === 0) return typeof found === 'string' ? { version: found } : found
  if (stderr.includes('E404')) return undefined
  throw new Error(`npm view ${name} failed: ${stderr}`)
}

// npm says by its exit code that something is outdated; without a registry it fails and prints an error document.
const { stdout } = await run('npm', ['outdated', '--json'], { cwd: root })
const outdated = JSON.parse(stdout || '{}')
if (outdated.error) throw new Error(`npm outdated failed: ${outdated.error.summary ?? outdated.error.code}`)
const heldBack = read('scripts/held-back.json')
const newest = {}
for (const name of Object.keys(heldBack)) newest[name] = await newestOf(name)

const { rows, complaints } = judge({ outdated, newest, heldBack })
for (const row of rows) process.stdout.write(`${row}\n`)
for (const complaint of complaints) process.stdout.write(`FAILED  ${complaint}\n`)
const { dependencies, devDependencies, optionalDependencies } = read('package.json')
const all = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }).length
process.stdout.write(`${Math.max(all - complaints.length, 0)} passed, ${complaints.length} failed, 0 skipped\n`)
process.exitCode = complaints.length === 0 ? 0 : 1
