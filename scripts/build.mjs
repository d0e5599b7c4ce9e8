// Builds dist from src: compiled modules, the other files beside them, the contract manifest that the command line
// and the client run from, and the command line and the server themselves in a few chunks. Built aside and moved into
// place, so that a running server never sees half of it.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleAgent } from './lib/agent-program.mjs'
import { blankDatabase } from './lib/blank-database.mjs'
import { stampBuild } from './lib/build-state.mjs'
import { bundleCommandLine } from './lib/command-line.mjs'
import { bundleConsole } from './lib/console.mjs'
import { docsRenderer } from './lib/docs-renderer/docs-renderer.mjs'
import { root } from './lib/root.mjs'
import { bundleServer } from './lib/server.mjs'

const startedAt = new Date()
const dist = join(root, 'dist')
const next = join(root, `dist-next-${process.pid}`)
const last = join(root, `dist-last-${process.pid}`)

function compile() {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', next], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('the sources do not compile')
}

/** Copies what the compiler leaves: schema files and the like. JavaScript it has written itself; the console is built apart. */
function copyOtherFiles() {
  const entries = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    if (!entry.isFile() || /\.[jt]s$/.test(entry.name)) continue
    const from = join(entry.parentPath, entry.name)
    if (from.startsWith(join(root, 'src/console') + sep)) continue
    cpSync(from, join(next, from.slice(join(root, 'src').length)))
  }
}

/** Writes the contract as data, so that a one-shot command loads no schema library and parses no more than it needs. */
async function writeManifest() {
  const load = (path) => import(pathToFileURL(join(next, path)).href)
  const { contract } = await load('shared/contract/index.js')
  const { manifestOf } = await load('shared/contract/manifest.js')
  const { manifestFilesOf } = await load('shared/contract/manifest-files.js')
  const { manifest, index } = manifestFilesOf(manifestOf(contract))
  writeFileSync(join(next, 'contract-manifest.json'), `${manifest}\n`)
  writeFileSync(join(next, 'contract-index.json'), `${index}\n`)
}

/** Puts the documentation page's script beside the modules, with the licences of what is in it. */
function writeRenderer() {
  const { script, licences } = docsRenderer(root)
  writeFileSync(join(next, 'docs-renderer.js'), script)
  writeFileSync(join(next, 'docs-renderer.LICENSE.txt'), licences)
}

/** Puts the recorded examples of the API document beside the modules. */
function copyExamples() {
  cpSync(join(root, 'docs/contract/examples.json'), join(next, 'contract-examples.json'))
}

/** Puts what a new embedded datastore begins as beside the modules. */
async function writeBlankDatabase() {
  const load = (path) => import(pathToFileURL(join(next, 'server/adapters', path)).href)
  const { openPglite } = await load('pglite/database.js')
  const { migrate } = await load('postgres/migrate.js')
  cpSync(await blankDatabase({ openPglite, migrate }), join(next, 'blank-database.tar.gz'))
}

function moveIntoPlace() {
  if (existsSync(dist)) renameSync(dist, last)
  renameSync(next, dist)
  rmSync(last, { recursive: true, force: true })
}

try {
  compile()
  copyOtherFiles()
  await writeManifest()
  await bundleCommandLine(next)
  await bundleAgent(next)
  await bundleServer(next)
  await bundleConsole(root, next)
  writeRenderer()
  copyExamples()
  await writeBlankDatabase()
  stampBuild(next, startedAt)
  moveIntoPlace()
} catch (error) {
  rmSync(next, { recursive: true, force: true })
  process.stderr.write(`Build failed: ${error.message}\n`)
  process.exitCode = 1
}
