import { formatEndpoint, type EndpointAddress } from '../../endpoints/endpoint-address.ts'

/** The address at which a peer answered. */
export interface Binding {
  readonly nodeId: string
  readonly address: EndpointAddress
  usedMs: number
  /** Handshakes in succession that were sent there and not answered. */
  unanswered: number
}

/** Where peers answered. */
export interface Bindings {
  /** The peer answered from there. */
  set(nodeId: string, address: EndpointAddress): Binding
  /** Undefined where it has not answered, or nothing came from there for three minutes. */
  of(nodeId: string): Binding | undefined
  /** The peer that answered from there. */
  at(address: EndpointAddress): string | undefined
  /** Forgets peers that are gone and those that are silent. */
  sweep(isKnown: (nodeId: string) => boolean): void
}

const IDLE_MS = 180_000

/** Makes it, empty. `now`: milliseconds. */
export function createBindings(now: () => number): Bindings {
  const byNode = new Map<string, Binding>()
  const byAddress = new Map<string, Binding>()

  const isIdle = ({ usedMs }: Binding): boolean => now() - usedMs > IDLE_MS
  const live = (binding: Binding | undefined): Binding | undefined =>
    binding === undefined || isIdle(binding) ? undefined : binding

  function remove(binding: Binding | undefined): void {
    if (binding === undefined) return
    byNode.delete(binding.nodeId)
    byAddress.delete(formatEndpoint(binding.address))
  }

  return {
    set(nodeId, address) {
      const key = formatEndpoint(address)
      const before = byNode.get(nodeId)
      if (before !== undefined && before === byAddress.get(key)) {
        before.usedMs = now()
        before.unanswered = 0
        return before
      }
      remove(before)
      remove(byAddress.get(key))
      const binding = { nodeId, address, usedMs: now(), unanswered: 0 }
      byNode.set(nodeId, binding)
      byAddress.set(key, binding)
      return binding
    },
    of: (nodeId) => live(byNode.get(nodeId)),
    at: (address) => live(byAddress.get(formatEndpoint(address)))?.nodeId,
    sweep(isKnown) {
      for (const binding of byNode.values()) if (isIdle(binding) || !isKnown(binding.nodeId)) remove(binding)
    },
  }
}
