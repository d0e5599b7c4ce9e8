import ipaddr from 'ipaddr.js'
import type { NftCommand, NftValue } from '../../../src/cli/agent/firewall/nft-json.ts'

/** A packet as nftables sees it. */
export interface Packet {
  readonly hook: 'prerouting' | 'postrouting'
  readonly iifname: string
  readonly oifname: string
  readonly saddr: string
  readonly daddr: string
  readonly protocol: 'tcp' | 'udp' | 'icmp' | 'ipv6-icmp' | 'sctp'
  readonly dport?: number
  readonly flags?: readonly string[]
  readonly direction: 'original' | 'reply'
  readonly state: 'new' | 'established' | 'related' | 'invalid'
}

export interface Passage {
  readonly verdict: 'accept' | 'drop'
  /** The counters that counted it. */
  readonly counters: readonly string[]
}

interface Place {
  readonly table: string
  readonly chain: string
  readonly name: string
  readonly hook: string
  readonly elem?: readonly NftValue[]
  readonly expr: readonly NftValue[]
}

/** What the rules of a new table do to a packet. Knows the expressions that the firewall uses and throws at others. */
export function interpretRules(commands: readonly NftCommand[], packet: Packet): Passage {
  const added = (kind: string) =>
    commands.flatMap(({ add }) => (isObject(add) && kind in add ? [add[kind] as never as Place] : []))
  const sets = new Map(added('set').map(({ name, elem = [] }) => [name, elem]))
  const chains = new Set(
    added('chain')
      .filter(({ hook }) => hook === packet.hook)
      .map(({ name }) => name),
  )
  const counters: string[] = []
  for (const { expr } of added('rule').filter(({ chain }) => chains.has(chain))) {
    const verdict = runRule(expr, { packet, sets, counters })
    if (verdict !== undefined) return { verdict, counters }
  }
  return { verdict: 'accept', counters }
}

interface Run {
  readonly packet: Packet
  readonly sets: ReadonlyMap<string, readonly NftValue[]>
  readonly counters: string[]
}

function runRule(statements: readonly NftValue[], run: Run): Passage['verdict'] | undefined {
  for (const statement of statements) {
    if (!isObject(statement)) throw new Error(`not a statement: ${JSON.stringify(statement)}`)
    if ('accept' in statement) return 'accept'
    if ('drop' in statement) return 'drop'
    if ('counter' in statement) run.counters.push(textOf(statement['counter']))
    else if (!isMatch(statement['match'], run)) return undefined
  }
  return undefined
}

function isMatch(match: NftValue | undefined, { packet, sets }: Run): boolean {
  if (!isObject(match)) throw new Error('not a match')
  const { op, left = null, right = null } = match
  const value = valueOf(left, packet)
  // An expression that the packet does not have ends the rule, whatever the operator.
  if (value === undefined) return false
  if (op === 'in') return [right].flat().includes(value)
  const isEqual = covers(right, { value, sets })
  return op === '!=' ? !isEqual : isEqual
}

function valueOf(expression: NftValue, packet: Packet): string | number | undefined {
  if (!isObject(expression)) throw new Error(`not an expression: ${JSON.stringify(expression)}`)
  const { meta, ct, payload, '&': masked } = expression
  if (isObject(meta)) return metaOf(textOf(meta['key']), packet)
  if (isObject(ct)) return ct['key'] === 'state' ? packet.state : packet.direction
  if (isObject(payload)) return payloadOf(`${textOf(payload['protocol'])} ${textOf(payload['field'])}`, packet)
  const [, bits] = masked as readonly [NftValue, readonly NftValue[]]
  if (packet.protocol !== 'tcp') return undefined
  return (packet.flags ?? ['syn']).filter((flag) => bits.includes(flag)).join(',')
}

function metaOf(key: string, { iifname, oifname, protocol, saddr }: Packet): string {
  const nfproto = saddr.includes(':') ? 'ipv6' : 'ipv4'
  const value = { iifname, oifname, l4proto: protocol, nfproto }[key]
  if (value === undefined) throw new Error(`unknown meta ${key}`)
  return value
}

function payloadOf(field: string, { saddr, daddr, protocol, dport }: Packet): string | number | undefined {
  const isV6 = saddr.includes(':')
  const values = {
    'ip saddr': isV6 ? undefined : saddr,
    'ip daddr': isV6 ? undefined : daddr,
    'ip6 saddr': isV6 ? saddr : undefined,
    'ip6 daddr': isV6 ? daddr : undefined,
    'tcp dport': protocol === 'tcp' ? dport : undefined,
    'udp dport': protocol === 'udp' ? dport : undefined,
  }
  if (!(field in values)) throw new Error(`unknown payload ${field}`)
  return values[field as keyof typeof values]
}

interface Searched {
  readonly value: string | number
  readonly sets: Run['sets']
}

function covers(right: NftValue, searched: Searched): boolean {
  const { value, sets } = searched
  if (typeof right === 'string' && right.startsWith('@')) {
    const elements = sets.get(right.slice(1))
    if (elements === undefined) throw new Error(`no set ${right}`)
    return elements.includes(value)
  }
  if (!isObject(right)) return right === value
  const { set, range, prefix } = right
  if (Array.isArray(set)) return set.some((element: NftValue) => covers(element, searched))
  if (Array.isArray(range)) return Number(range[0]) <= Number(value) && Number(value) <= Number(range[1])
  return isObject(prefix) && isInPrefix(String(value), `${textOf(prefix['addr'])}/${textOf(prefix['len'])}`)
}

function isInPrefix(address: string, prefix: string): boolean {
  const [one, [network, length]] = [ipaddr.parse(address), ipaddr.parseCIDR(prefix)]
  return one.kind() === network.kind() && one.match(network, length)
}

function isObject(value: NftValue | undefined): value is { readonly [member: string]: NftValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: NftValue | undefined): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  throw new Error(`not a text: ${JSON.stringify(value)}`)
}
