import ipaddr from 'ipaddr.js'
import type { Flow, Party } from '../../../src/shared/policies/verdict.ts'
import type { AcceptEntry, Direction } from '../../../src/shared/policies/rule-types.ts'
import { PORTS_ASKED } from './policy-worlds.ts'

interface PlainFlow {
  readonly protocol: 'tcp' | 'udp' | 'icmp'
  readonly port: number
}

/** Every flow that `PORTS_ASKED` allows to tell apart; those of ICMP have the port 0. */
const FLOWS: readonly PlainFlow[] = [
  ...PORTS_ASKED.flatMap((port) => [
    { protocol: 'tcp' as const, port },
    { protocol: 'udp' as const, port },
  ]),
  { protocol: 'icmp', port: 0 },
]

/** Whether some flow that is meant passes both ends, found by trying each. Only for policies whose ports are `PORTS_ASKED`. */
export function naiveAllows(from: Party, to: Party, flow: Flow): boolean {
  return FLOWS.filter((one) => isMeant(one, flow)).some(
    (one) =>
      naiveSideAllows(from, to, { direction: 'egress', ...one }) &&
      naiveSideAllows(to, from, { direction: 'ingress', ...one }),
  )
}

/** Whether some flow that is meant passes the policies of one end. */
export function naiveSide(own: Party, remote: Party, { direction, ...flow }: Flow & { readonly direction: Direction }) {
  return {
    isolated: isIsolated(own, direction),
    allowed: FLOWS.filter((one) => isMeant(one, flow)).some((one) =>
      naiveSideAllows(own, remote, { direction, ...one }),
    ),
  }
}

function isMeant({ protocol, port }: PlainFlow, asked: Flow): boolean {
  if (asked.protocol !== undefined && asked.protocol !== protocol) return false
  return asked.port === undefined || asked.port === port
}

function isIsolated({ policies }: Party, direction: Direction): boolean {
  return policies.some(({ entries }) => entries.some((one) => one.action === 'isolate' && one.direction === direction))
}

function naiveSideAllows(own: Party, remote: Party, flow: PlainFlow & { readonly direction: Direction }): boolean {
  if (!isIsolated(own, flow.direction)) return true
  return own.policies.some(({ entries }) =>
    entries.some(
      (entry) =>
        entry.action === 'accept' &&
        entry.direction === flow.direction &&
        covers(entry, remote) &&
        (entry.protocol === 'any' || entry.protocol === flow.protocol) &&
        (entry.ports.length === 0 || entry.ports.some(([first, last]) => first <= flow.port && flow.port <= last)),
    ),
  )
}

function covers({ groups, except_groups, cidrs, except_cidrs }: AcceptEntry, remote: Party): boolean {
  const isNamed = groups.includes(0) || groups.some((group) => remote.groups.includes(group)) || isIn(cidrs, remote)
  const isExcepted =
    except_groups.includes(0) ||
    except_groups.some((group) => remote.groups.includes(group)) ||
    isIn(except_cidrs, remote)
  return isNamed && !isExcepted
}

function isIn(cidrs: readonly string[], { meshAddress }: Party): boolean {
  const address = ipaddr.parse(meshAddress)
  return cidrs.some((cidr) => {
    const [network, length] = ipaddr.parseCIDR(cidr)
    return network.kind() === address.kind() && address.match(network, length)
  })
}
