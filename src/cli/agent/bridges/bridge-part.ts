import type { Forward } from '../firewall/firewall-view.ts'

/** One kind of part of the bridges that this machine hosts: the relay, ingress, tunnels or user access. */
export interface BridgePart<Wanted> {
  /**
   * Takes what a bridge wants now, in the place of what it wanted before. Resolves with undefined, or with why it is not applied: a
   * sentence without a secret. What ran before goes on then.
   */
  apply(bridgeId: string, wanted: Wanted): Promise<string | undefined>
  /** Stops what runs for any other bridge, and removes what an earlier process has left of one. */
  keepOnly(bridgeIds: ReadonlySet<string>): Promise<void>
  /** What stopped working since it was applied, a sentence each. */
  faults(): readonly string[]
  /** What this machine forwards between the mesh and interfaces of this part. */
  forwards(): readonly Forward[]
  /** `keep`: the agent ends, and what carries packets stays; `remove`: nothing is left. */
  close(mode: 'keep' | 'remove'): Promise<void>
}
