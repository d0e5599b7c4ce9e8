import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { parseCidr } from '../../shared/networks/cidr.ts'
import { usageError } from '../errors/cli-error.ts'
import { isLoopback } from '../commands/doctor/loopback.ts'
import type { UpFlags } from '../commands/agent/flags.ts'
import { digestFrom, fetchAuthority } from '../session/authority-flag.ts'
import { DEFAULT_LISTEN, readListenAddress } from './bridges/ingress/listen-address.ts'
import { reasonOf } from './errors.ts'
import { NAME_WAYS, type MachineSettings, type NameWay, type ServerSettings } from './state/agent-state.ts'

const DEFAULTS: MachineSettings = {
  interface_name: 'ctl0',
  listen_port: 51_820,
  mtu: 1420,
  is_userspace: false,
  names: 'auto',
}

const INTERFACE_NAME = /^[a-z][a-z0-9_.-]{0,14}$/
const PORT_MAX = 65_535
/** IPv4 needs no less (RFC 791); the upper bound is that of common jumbo frames. */
const [MTU_MIN, MTU_MAX] = [576, 9_000]

/** How the agent sets the machine up: by its flags, else as before, else by default. @throws CliError for a value that cannot be. */
export function machineOf(flags: UpFlags, before: MachineSettings = DEFAULTS): MachineSettings {
  const name = flags.interface ?? before.interface_name
  if (!INTERFACE_NAME.test(name))
    throw usageError(
      `--interface ${name} is no interface name`,
      'Use up to 15 of a-z, 0-9, _ . -, the first one a letter.',
    )
  return {
    interface_name: name,
    listen_port: inRange(flags, { flag: 'listen-port', before: before.listen_port, min: 1, max: PORT_MAX }),
    mtu: inRange(flags, { flag: 'mtu', before: before.mtu, min: MTU_MIN, max: MTU_MAX }),
    is_userspace: flags.userspace ?? before.is_userspace,
    names: namesOf(flags, before.names),
    ...sessionTargetsOf(flags, before),
    ...ingressListenOf(flags, before),
  }
}

const NO_TARGETS = 'none'

function sessionTargetsOf(flags: UpFlags, before: MachineSettings): Pick<MachineSettings, 'session_targets'> {
  const given = flags['allow-session-targets']
  const targets = given === undefined ? (before.session_targets ?? []) : given.filter((text) => text !== NO_TARGETS)
  for (const text of targets) {
    if (parseCidr(text).ok) continue
    throw usageError(
      `--allow-session-targets ${text} is no network`,
      'Write it as address/prefix length with all bits behind the prefix zero, such as 10.20.0.0/16 or 10.20.0.7/32.',
    )
  }
  return targets.length === 0 ? {} : { session_targets: targets }
}

function ingressListenOf(flags: UpFlags, before: MachineSettings): Pick<MachineSettings, 'ingress_listen'> {
  const text = flags['ingress-listen'] ?? before.ingress_listen ?? DEFAULT_LISTEN
  if (readListenAddress(text) === undefined)
    throw usageError(
      `--ingress-listen ${text} is no address with a port`,
      'Write it as 203.0.113.7:443, [2001:db8::7]:443, or :443 for all addresses.',
    )
  return text === DEFAULT_LISTEN ? {} : { ingress_listen: text }
}

interface Range {
  readonly flag: 'listen-port' | 'mtu'
  readonly before: number
  readonly min: number
  readonly max: number
}

function inRange(flags: UpFlags, { flag, before, min, max }: Range): number {
  const value = flags[flag] ?? before
  if (value < min || value > max) throw usageError(`--${flag} is between ${min} and ${max}, not ${value}`)
  return value
}

function namesOf({ names, hosts, 'no-names': none }: UpFlags, before: NameWay): NameWay {
  const given = [names, hosts === true ? 'hosts' : undefined, none === true ? 'none' : undefined]
  const ways = NAME_WAYS.filter((way) => given.includes(way))
  if (ways.length > 1) throw usageError('--names, --hosts and --no-names exclude each other')
  return ways[0] ?? before
}

/** A base URL as it is kept: without slashes at its end. */
export function serverUrlOf(text: string): string {
  return text.replace(/(?<!\/)\/+$/, '')
}

/** The server of `--server` and how it is trusted: as before where it is the same and no flag differs. @throws CliError */
export async function serverOf(
  flags: UpFlags & { readonly server: string },
  before?: ServerSettings,
): Promise<ServerSettings> {
  const url = serverUrlOf(flags.server)
  if (before?.url === url && !namesAuthority(flags)) return before
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !['http:', 'https:'].includes(parsed.protocol))
    throw usageError(`--server ${flags.server} is not an http: or https: URL`, 'Write it as https://host:port')
  if (parsed.protocol === 'http:' && !isLoopback(parsed.hostname) && flags['insecure-http'] !== true)
    throw usageError(
      `--server ${url} is plain HTTP, which shows the keys of the node to anyone who can read the network`,
      'Use https; "ctl serve --tls-self-signed" makes a certificate. For a test, add --insecure-http.',
    )
  return { url, ...(await trustOf(url, flags)) }
}

function namesAuthority({ 'ca-file': file, 'ca-sha256': digest }: UpFlags): boolean {
  return file !== undefined || digest !== undefined
}

async function trustOf(url: string, flags: UpFlags): Promise<Omit<ServerSettings, 'url'>> {
  const { 'ca-file': file, 'ca-sha256': digest } = flags
  if (file !== undefined && digest !== undefined) throw usageError('--ca-file and --ca-sha256 exclude each other')
  // Nothing is sent to a server that does not show that authority.
  if (digest !== undefined)
    return { pinned_ca: await fetchAuthority({ url, sha256: digestFrom(digest, '--ca-sha256') }) }
  return file === undefined ? {} : { ca: await certificatesIn(file) }
}

async function certificatesIn(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw usageError(`--ca-file ${file} cannot be read: ${reasonOf(error)}`)
  }
}

const NODE_NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** The name of the node: that of `--name`, else the former one, else the host name, made valid. @throws CliError */
export function nodeNameOf({ name }: UpFlags, former?: string, host: string = hostname()): string {
  if (name !== undefined) {
    if (NODE_NAME.test(name)) return name
    throw usageError(`--name ${name} is no node name`, 'Use lower-case letters, digits and inner hyphens, at most 63.')
  }
  if (former !== undefined) return former
  const made = (host.split('.')[0] ?? '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, '')
  if (made !== '') return made
  throw usageError(`the host name ${host} makes no node name`, 'Give one with --name.')
}
