import { isIPv6 } from 'node:net'
import {
  containsAddress,
  parseAddress,
  parseCidr,
  type AddressWords,
  type Cidr,
} from '../../../shared/networks/cidr.ts'
import type { SessionKind } from '../../../shared/events/wire-types.ts'

/** Where the bytes of a session go. */
export interface SessionTarget {
  /** A name or an address, without brackets. */
  readonly host: string
  readonly port: number
}

const LOOPBACK = '127.0.0.1'
const SSH_PORT = 22
const PORT_MAX = 65_535
const HOST_AND_PORT = /^(?:\[(?<v6>[0-9a-f:.]+)\]|(?<name>[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)):(?<port>[1-9]\d{0,4})$/i
const LOGIN = /^[^\s:[\]]+$/

/** Reads `host:port`. A bare login of an SSH session means the machine's own sshd. Undefined where a target is something else. */
export function readTarget(kind: SessionKind, text: string): SessionTarget | undefined {
  if (kind === 'ssh' && LOGIN.test(text)) return { host: LOOPBACK, port: SSH_PORT }
  const { v6, name, port } = HOST_AND_PORT.exec(text)?.groups ?? {}
  const host = v6 === undefined ? name : v6Of(v6)
  if (host === undefined || Number(port) > PORT_MAX) return undefined
  return { host: host.toLowerCase() === 'localhost' ? LOOPBACK : host, port: Number(port) }
}

function v6Of(text: string): string | undefined {
  return isIPv6(text) ? text : undefined
}

/** Whether sessions may reach an address. */
export type TargetRule = (address: string) => boolean

/** Unspecified, link-local, multicast, reserved and broadcast addresses, and those at which clouds answer with credentials. */
const NEVER = [
  '0.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  'fe80::/10',
  'ff00::/8',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
].map(cidrOf)

/** Prefixes of IPv6 addresses that stand for the IPv4 address in their last 32 bits: NAT64 and IPv4-compatible ones. */
const EMBEDDING = ['64:ff9b::/96', '::/96'].map(cidrOf)

/** The rule of a node: its own 127.0.0.1, and what the networks contain. Some addresses are never allowed. */
export function targetRule(networks: readonly Cidr[]): TargetRule {
  return (address) => {
    const words = wordsOf(address)
    if (words === undefined || isNever(words)) return false
    return isLoopback(words) || networks.some((network) => containsAddress(network, words))
  }
}

/** The networks of `--allow-session-targets`. Those that an earlier version wrote and this one does not read are left out. */
export function networksOf(texts: readonly string[]): readonly Cidr[] {
  return texts.flatMap((text) => {
    const read = parseCidr(text)
    return read.ok ? [read.cidr] : []
  })
}

/** IPv4-mapped IPv6 is another spelling of IPv4. */
function wordsOf(address: string): AddressWords | undefined {
  const words = parseAddress(address)
  const [first, second, third, last] = words ?? []
  return first === 0 && second === 0 && third === 0xffff && last !== undefined ? [last] : words
}

function isNever(words: AddressWords): boolean {
  const forbidden = (one: AddressWords): boolean => NEVER.some((network) => containsAddress(network, one))
  const last = words[3]
  const isEmbedding = EMBEDDING.some((network) => containsAddress(network, words))
  // The whole of ::/96 but loopback has nothing that answers.
  return forbidden(words) || (isEmbedding && last !== undefined && last !== 1 && forbidden([last]))
}

function isLoopback(words: AddressWords): boolean {
  return words.length === 1 && words[0] === 0x7f000001
}

function cidrOf(text: string): Cidr {
  const read = parseCidr(text)
  if (!read.ok) throw new Error(`${text} is no CIDR`)
  return read.cidr
}
