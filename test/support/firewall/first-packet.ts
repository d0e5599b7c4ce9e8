import type { FlowProtocol } from '../../../src/shared/policies/prepare-policies.ts'
import type { Direction } from '../../../src/shared/policies/rule-types.ts'
import type { Packet } from './interpret-rules.ts'

/** A flow with a peer. */
export interface AskedFlow {
  readonly direction: Direction
  readonly protocol: FlowProtocol
  readonly port: number
}

/** The first packet of a flow with the peer, at a node with another address. */
export function firstPacket(address: string, { direction, protocol, port }: AskedFlow): Packet {
  const isV6 = address.includes(':')
  const own = isV6 ? '2001:db8::99' : '100.64.0.99'
  const [saddr, daddr] = direction === 'ingress' ? [address, own] : [own, address]
  return {
    hook: direction === 'ingress' ? 'prerouting' : 'postrouting',
    iifname: 'ctl0',
    oifname: 'ctl0',
    saddr,
    daddr,
    protocol: protocol === 'icmp' && isV6 ? 'ipv6-icmp' : protocol,
    dport: port,
    direction: 'original',
    state: 'new',
  }
}
