import type { NumberedEvent } from '../../ports/outbox.ts'

/** Nodes that webhooks may have to be sent a message about, in the memory of the leader. At most every node is in it twice. */
export interface ChangedNodes {
  /** Takes the changes of reachability among outbox events. */
  take(events: readonly NumberedEvent[]): void
  /** Adds a silent node, which is examined from that instant on. The earlier one counts where it has another. */
  addSilent(nodeId: string, dueMs: number): void
  addBack(nodeId: string): void
  /** Takes out silent nodes that are due, at most so many. */
  nextSilent(nowMs: number, max: number): readonly string[]
  /** Takes out nodes that are back, at most so many. */
  nextBack(max: number): readonly string[]
  clear(): void
}

export function createChangedNodes(): ChangedNodes {
  const silent = new Map<string, number>()
  const back = new Set<string>()

  function addSilent(nodeId: string, dueMs: number): void {
    silent.set(nodeId, Math.min(dueMs, silent.get(nodeId) ?? Infinity))
  }

  function take({ event, payload }: NumberedEvent): void {
    if (event !== 'NodeReachabilityChanged') return
    // The emitter was held to the payload of the literal.
    const {
      node_id: id,
      from,
      to,
    } = payload as { readonly node_id: string; readonly from: string; readonly to: string }
    if (to !== 'healthy') addSilent(id, -Infinity)
    else if (from !== 'never_reported') back.add(id)
  }

  return {
    take: (events) => events.forEach(take),
    addSilent,
    addBack: (nodeId) => void back.add(nodeId),
    nextSilent(nowMs, max) {
      const due: string[] = []
      for (const [nodeId, dueMs] of silent) {
        if (due.length === max) break
        if (dueMs <= nowMs) due.push(nodeId)
      }
      for (const nodeId of due) silent.delete(nodeId)
      return due
    },
    nextBack(max) {
      const next: string[] = []
      for (const nodeId of back) {
        if (next.length === max) break
        next.push(nodeId)
      }
      for (const nodeId of next) back.delete(nodeId)
      return next
    },
    clear() {
      silent.clear()
      back.clear()
    },
  }
}
