import { startReplicaOf, type Answer, type ControlPlane } from './control-plane.ts'
import { startFleet, type Fleet } from '../fleet/fleet.ts'
import { OWN_SURFACES } from '../authz/own-calls.ts'
import type { TestStore } from '../datastores/stores.ts'

/** Two replicas over one datastore, at one time; everything about nodes can be done through either. */
export interface ActingReplicas {
  readonly fleet: Fleet
  /** Calls one of the two. */
  call(replica: number, as: string, operation: string, body?: unknown): Promise<Answer>
  /** Pulls the state of a node from one of the two with its own key, as text. */
  pull(replica: number, node: { readonly node_id: string; readonly nsk: string }, etag?: string): Promise<PulledText>
  stop(): Promise<void>
}

export interface PulledText {
  readonly status: number
  readonly etag: string
  readonly text: string
}

export async function startActingReplicas(store: TestStore): Promise<ActingReplicas> {
  const fleet = await startFleet(store, { surfaces: OWN_SURFACES })
  const other = await startReplicaOf(fleet, { surfaces: ['nodes', 'joinTokens', ...OWN_SURFACES] })
  other.callers.add(fleet.root, fleet.home)
  const at = (replica: number): ControlPlane => (replica === 0 ? fleet : other)
  return {
    fleet,
    call(replica, as, operation, body) {
      other.clock.nowMs = fleet.clock.nowMs
      return at(replica).call(as, operation, body)
    },
    async pull(replica, { node_id, nsk }, etag) {
      other.clock.nowMs = fleet.clock.nowMs
      const response = await fetch(`${at(replica).url}/v1/nodes/${node_id}/state`, {
        headers: { authorization: `Bearer ${nsk}`, ...(etag !== undefined && { 'if-none-match': etag }) },
      })
      return { status: response.status, etag: response.headers.get('etag') ?? '', text: await response.text() }
    },
    async stop() {
      await other.stop()
      await fleet.stop()
    },
  }
}
