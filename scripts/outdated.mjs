// Compares the dependencies with the newest that the registry has and that the oldest supported Node can run: those of the
// package and those of tools/openapi. What is held back has its reason in scripts/held-back.json; a package that is behind
// without a reason fails, and so does a reason that no longer holds. Run it with the oldest supported major of Node: npm
// leaves out what needs another one. The last line is for scripts: `N passed, N failed, N skipped`.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
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

/** What `npm outdated` prints for one folder, whose packages are installed. */
async function outdatedIn(folder) {
  // npm says by its exit code that something is outdated; without a registry it fails and prints an error document.
  const { stdout } = await run('npm', ['outdated', '--json'], { cwd: join(root, folder) })
  const outdated = JSON.parse(stdout || '{}')
  if (outdated.error) throw new Error(`npm outdated failed: ${outdated.error.summary ?? outdated.error.code}`)
  const missing = Object.entries(outdated).filter(([, { current }]) => current === undefined)
  if (missing.length > 0)
    throw new Error(`${missing.map(([name]) => name).join(', ')} cannot be compared: run npm ci in ${folder} first.`)
  return outdated
}

/** Prints what one manifest has; resolves with how many packages it asks for and how many complaints there are. */
async function compare([path, heldBack]) {
  const newest = {}
  for (const name of Object.keys(heldBack)) newest[name] = await newestOf(name)
  const { rows, complaints } = judge({ outdated: await outdatedIn(dirname(path)), newest, heldBack })
  for (const row of rows) process.stdout.write(`${row}\n`)
  for (const complaint of complaints) process.stdout.write(`FAILED  ${path}: ${complaint}\n`)
  const { dependencies, devDependencies, optionalDependencies } = read(path)
  const all = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }).length
  return { passed: Math.max(all - complaints.length, 0), failed: complaints.length }
}

const counts = []
for (const entry of Object.entries(read('scripts/held-back.json'))) counts.push(await compare(entry))
const sum = (member) => counts.reduce((total, count) => total + count[member], 0)
process.stdout.write(`${sum('passed')} passed, ${sum('failed')} failed, 0 skipped\n`)
process.exitCode = sum('failed') === 0 ? 0 : 1
