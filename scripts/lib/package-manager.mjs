import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** No setting of the checkout, and none of the machine but where packages come from. */
const QUIET = ['--no-audit', '--no-fund', '--no-update-notifier']

/** Runs a program to its end; resolves with its exit code and what it printed. */
export async function run(program, args, options = {}) {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, stdout, stderr }
}

/** Runs a program to its end; resolves with its stdout. Throws with what it printed when it fails. */
export async function runWell(program, args, options) {
  const { code, stdout, stderr } = await run(program, args, options)
  if (code !== 0)
    throw new Error(
      `${[program, ...args].join(' ')} ended with ${code}: ${stdout.slice(-2_000)}${stderr.slice(-2_000)}`,
    )
  return stdout
}

/** The folder of npm's own package, so that any Node can run it. */
export async function npmFolder() {
  const folder = (await runWell('npm', ['root', '--global'])).trim()
  return realpathSync(join(folder, 'npm'))
}

/**
 * Packs a checkout as `npm publish` would.
 *
 * @returns the path of the tarball in `folder`
 */
export async function pack(checkout, folder) {
  mkdirSync(folder, { recursive: true })
  const printed = await runWell('npm', ['pack', '--json', '--silent', '--pack-destination', folder], { cwd: checkout })
  // What the scripts of the package print comes first.
  const [{ filename }] = JSON.parse(printed.slice(printed.search(/^\[$/m)))
  return join(folder, filename)
}

/**
 * Brings a Node of the registry into `folder`.
 *
 * @param version a range, such as `24`
 * @returns `{ node, bin, version }`: the program, its folder, and what it says it is; undefined when the registry has none
 */
export async function installNode(version, folder) {
  const name = `node-${process.platform}-${process.arch}`
  mkdirSync(folder, { recursive: true })
  const args = ['install', '--prefix', folder, ...QUIET, '--no-save', '--loglevel=error', `${name}@${version}`]
  const { code, stderr } = await run('npm', args)
  if (code !== 0 && /ETARGET|E404/.test(stderr)) return undefined
  if (code !== 0) throw new Error(`npm could not install ${name}@${version}: ${stderr}`)
  const bin = join(folder, 'node_modules', name, 'bin')
  const node = join(bin, 'node')
  return { node, bin, version: (await runWell(node, ['--version'])).trim() }
}

/** The Node of this process, alone in a folder, as `installNode` gives one. */
export function ownNode(folder) {
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  symlinkSync(process.execPath, join(bin, 'node'))
  return { node: process.execPath, bin, version: process.version }
}

/**
 * Installs the tarball globally with that Node, into an empty prefix and with an empty home, as on a new machine.
 *
 * @returns `{ script, output }`: the command's script, and what npm printed
 */
export async function installPackage(tarball, { node, bin }, folder) {
  const prefix = join(folder, 'prefix')
  const home = join(folder, 'home')
  mkdirSync(home, { recursive: true })
  const args = [join(await npmFolder(), 'bin/npm-cli.js'), 'install', '--global', '--prefix', prefix, ...QUIET, tarball]
  const env = { ...registrySettings(), HOME: home, PATH: `${bin}:${process.env.PATH}` }
  const { code, stdout, stderr } = await run(node, args, { cwd: folder, env })
  if (code !== 0) throw new Error(`npm install --global ended with ${code}: ${stdout}${stderr}`)
  return { script: join(prefix, 'lib/node_modules/ctl-mesh/bin/ctl.js'), output: `${stdout}${stderr}` }
}

/** The environment without what npm and this checkout put into it. */
export function registrySettings() {
  const isOwn = (name) =>
    /^npm_(package|lifecycle|command|execpath|node_execpath|config_(local_)?prefix)/.test(name) || name === 'INIT_CWD'
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOwn(name)))
}
