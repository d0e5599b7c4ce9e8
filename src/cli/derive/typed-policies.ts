import { usageError } from '../errors/cli-error.ts'
import { isNone } from './typed-sets.ts'

const RULE = /^(?:(ingress)\s+(\w+)(?::(\S+))?\s+from|(egress)\s+(\w+)(?::(\S+))?\s+to)\s+(.+?)(?:\s+except\s+(.+))?$/s
const TEST = /^(allowed|denied)\s+(tcp|udp|icmp)(?::(\d{1,5}))?\s+from\s+(.+)\s+to\s+(.+)$/s
/** Addresses in place of a selector: networks, with commas between them. */
const NETWORKS = /^[0-9a-f]*[.:][0-9a-f.:]*\/\d{1,3}(?:\s*,\s*[0-9a-f]*[.:][0-9a-f.:]*\/\d{1,3})*$/i

/**
 * Reads rules of a policy: `ingress tcp:443,8000-8100 from tier=web`, `egress any to 0.0.0.0/0 except 10.0.0.0/8`. The one word
 * `none` is no rule. Throws a usage error that begins with the flag; what a rule may say is the server's to judge.
 */
export function rulesFrom(texts: readonly string[], flag: string): readonly object[] {
  return isNone(texts, flag) ? [] : texts.map((text) => ruleFrom(text.trim(), flag))
}

function ruleFrom(text: string, flag: string): object {
  const found = RULE.exec(text)
  if (found === null)
    throw usageError(
      `${flag} cannot be read: "${text}"`,
      'Write "ingress PROTOCOL[:PORTS] from PEERS" or "egress PROTOCOL[:PORTS] to PEERS", with "except PEERS" behind it where needed.',
      'PROTOCOL is any, tcp, udp or icmp; PEERS is a selector of nodes, or networks such as 10.0.0.0/8.',
    )
  const [, ingress, inProtocol, inPorts, , outProtocol, outPorts, remote = '', except] = found
  const ports = inPorts ?? outPorts
  return {
    direction: ingress ?? 'egress',
    ...remoteEnd(remote, ''),
    ...(except !== undefined && remoteEnd(except, 'except_')),
    protocol: inProtocol ?? outProtocol,
    ...(ports !== undefined && { ports: ports.split(',') }),
  }
}

function remoteEnd(text: string, prefix: '' | 'except_'): object {
  if (!NETWORKS.test(text)) return { [`${prefix}peers`]: text }
  return { [`${prefix}cidrs`]: text.split(',').map((one) => one.trim()) }
}

/**
 * Reads tests of a policy: `allowed tcp:5432 from tier=api to tier=db`. The one word `none` is no test. Throws a usage error
 * that begins with the flag.
 */
export function testsFrom(texts: readonly string[], flag: string): readonly object[] {
  return isNone(texts, flag) ? [] : texts.map((text) => testFrom(text.trim(), flag))
}

function testFrom(text: string, flag: string): object {
  const found = TEST.exec(text)
  if (found === null)
    throw usageError(
      `${flag} cannot be read: "${text}"`,
      'Write "allowed PROTOCOL[:PORT] from SELECTOR to SELECTOR", or the same with denied.',
      'PROTOCOL is tcp, udp or icmp.',
    )
  const [, expect, protocol, port, from = '', to = ''] = found
  return { from, to, protocol, ...(port !== undefined && { port: Number(port) }), expect }
}
