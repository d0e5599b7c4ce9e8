import type { ReadPolicy } from '../../../client/agent/policies/own-policies.ts'

/** A peer as rules see it. */
export interface FirewallPeer {
  readonly nodeId: string
  /** Its mesh address. A peer whose address cannot be read is accepted by no rule. */
  readonly address: string
  /** The groups whose selectors it matches, without group 0. */
  readonly groups: readonly number[]
  /** Networks behind it, which count as the peer; absent: none. */
  readonly subnets?: readonly string[]
}

/** Packets between the mesh and what is behind an interface of this machine. */
export interface Forward {
  readonly interfaceName: string
  /** What is behind it, in CIDR notation. */
  readonly subnets: readonly string[]
  /** Who may begin a connection: members of the mesh, what is outside of it, or both. */
  readonly initiators: 'both' | 'mesh' | 'outside'
}

/** What the firewall is to enforce: the policies of the node, and the peers that they are about. */
export interface FirewallView {
  readonly interfaceName: string
  /** The node's own mesh address; undefined: any interface may lead to it. */
  readonly ownAddress?: string
  readonly policies: readonly ReadPolicy[]
  readonly peers: readonly FirewallPeer[]
  /** None: this machine forwards nothing of the mesh. */
  readonly forwards: readonly Forward[]
}
