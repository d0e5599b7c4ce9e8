// Makes a checkout runnable: installs what the lock names and builds when sources are newer than the build.
// Plain Node, because it runs before anything is installed. Silent when there is nothing to do.
import { spawnSync } from 'node:child_process'
import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isBuildCurrent } from './lib/build-state.mjs'
import { root } from './lib/root.mjs'

const NODE_MIN = [20, 19]

/** Ends with one sentence for the person at the terminal. */
function stop(sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return
  stop(`Node ${NODE_MIN.join('.')} or newer is needed; this is ${process.versions.node}.`)
}

function readPackages(path) {
  try {
    return JSON.parse(readFileSync(join(root, path), 'utf8')).packages
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Whether node_modules holds what the lock names. Compares contents, not file times: a checkout touches the lock
 * without changing it. Optional packages may be missing, since most of them are for other platforms.
 */
function isInstalled() {
  const installed = readPackages('node_modules/.package-lock.json')
  if (installed === undefined) return false
  const wanted = Object.entries(readPackages('package-lock.json')).filter(([path]) => path !== '')
  return wanted.every(([path, { version, optional, devOptional, peer }]) => {
    const found = installed[path]
    return found === undefined ? Boolean(optional || devOptional || peer) : found.version === version
  })
}

function isLink(path) {
  return lstatSync(join(root, path), { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}

/** Runs a step whose output matters only when it fails. */
function run(what, command, args) {
  process.stderr.write(`${what} …\n`)
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  if (status === 0) return
  process.stderr.write(`${stdout ?? ''}${stderr ?? ''}`)
  stop(
    `${what} failed${error ? `: ${error.message}` : ', as said above'}. To try it alone: ${[command, ...args].join(' ')}`,
  )
}

checkNode()
if (!isInstalled()) {
  if (isLink('node_modules'))
    stop('node_modules is a link to other packages than the lock names; run `npm ci` where it points.')
  run('Installing packages', 'npm', ['ci', '--no-audit', '--no-fund'])
}
if (!isBuildCurrent()) run('Building', process.execPath, [join(root, 'scripts/build.mjs')])
