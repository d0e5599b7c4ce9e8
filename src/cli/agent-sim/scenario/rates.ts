/** How often agents do each chore: the share of the fleet per minute; 1 is each node once a minute. */
export interface Rates {
  /** Nodes that are seen under another address, as after a NAT rebinding. */
  readonly endpoint_changes: number
  /** State pulls that nothing asks for. */
  readonly pulls: number
  /** State reports put and deleted. */
  readonly reports: number
  /** Batches of integrity violations. */
  readonly violations: number
  /** Nodes that replace their own secret key. */
  readonly nsk_rotations: number
}
