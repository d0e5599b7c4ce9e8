import type { Session } from '../../session/session.ts'
import type { FleetNode } from './fleet-node.ts'
import { POLL_MS_MAX, POLL_MS_MIN } from './polling.ts'
import { lookAgain, type NodesNow } from './reading.ts'
import type { Selection } from './selection.ts'

/** Nodes as they were last seen. */
export interface FleetView {
  readonly ids: readonly string[]
  /** Undefined once the node is gone. */
  node(id: string): FleetNode | undefined
  /** As it was when it was last there. */
  last(id: string): FleetNode | undefined
  all(): NodesNow
  refresh(ids: readonly string[]): Promise<void>
  /** A pause between two looks that leaves the server more time than looking takes. */
  pollMs(): number
}

export function createFleetView(session: Session, { nodes, lists }: Pick<Selection, 'nodes' | 'lists'>): FleetView {
  const known = new Map(nodes.map((node) => [node.id, node]))
  const gone = new Set<string>()
  let pollMs = POLL_MS_MIN
  const node = (id: string): FleetNode | undefined => (gone.has(id) ? undefined : known.get(id))
  return {
    ids: [...known.keys()],
    node,
    last: (id) => known.get(id),
    all: () => new Map([...known.keys()].map((id) => [id, node(id)])),
    async refresh(ids) {
      const askedMs = session.io.nowMs()
      const asked = ids.flatMap((id) => node(id) ?? [])
      for (const [id, now] of await lookAgain(session, asked, lists)) {
        if (now) known.set(id, now)
        else gone.add(id)
      }
      pollMs = Math.min(POLL_MS_MAX, Math.max(POLL_MS_MIN, 3 * (session.io.nowMs() - askedMs)))
    },
    pollMs: () => pollMs,
  }
}
