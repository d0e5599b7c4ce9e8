/** How often agents do each chore: the share of the fleet per minute; 1 is each node once a minute. */
export interface Rates {
  /** Nodes whose public address changes, as after a NAT rebinding. */
  readonly endpoint_changes: number
  /** State pulls without a request of the server. */
  readonly pulls: number
  /** State reports that are put or deleted. */
  readonly reports: number
  /** Batches of integrity violations. */
  readonly violations: number
  /** Nodes that replace their own secret key. */
  readonly nsk_rotations: number
  /** Changes of bridges that the simulator made, as a share of these bridges. */
  readonly bridge_changes: number
}
