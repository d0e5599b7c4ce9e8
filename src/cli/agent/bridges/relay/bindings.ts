import { formatEndpoint, type EndpointAddress } from '../../endpoints/endpoint-address.ts'

/** An address at which a peer may be: something that came from there was sent in its name. */
export interface Binding {
  readonly nodeId: string
  readonly address: EndpointAddress
  usedMs: number
  /** Packets of a session went both ways. */
  isConfirmed: boolean
}

/** Where peers may be. A message proves to a relay no more than that its sender knows public keys, so a peer has several. */
export interface Bindings {
  /** Something was sent from there in the name of the peer. It is kept where it is better than one of those that are. */
  note(nodeId: string, address: EndpointAddress): Binding
  /** Packets of a session went both ways. */
  confirm(binding: Binding): void
  /** Those of a peer from which something came within three minutes, the surest first. */
  of(nodeId: string): readonly Binding[]
  /** Those of an address. */
  at(address: EndpointAddress): readonly Binding[]
  /** Forgets peers that are gone and addresses that are silent. */
  sweep(isKnown: (nodeId: string) => boolean): void
}

export interface BindingsDeps {
  /** Milliseconds. */
  readonly now: () => number
  /** Whether the server, or the tunnel of this host, has the peer at that host: others cannot choose that. */
  readonly isAtHost: (nodeId: string, host: string) => boolean
}

const IDLE_MS = 180_000
/** Addresses of one peer. */
const PER_PEER_MAX = 4

/** Makes it, empty. */
export function createBindings({ now, isAtHost }: BindingsDeps): Bindings {
  const byNode = new Map<string, readonly Binding[]>()
  const byAddress = new Map<string, ReadonlySet<Binding>>()

  const isLive = ({ usedMs }: Binding): boolean => now() - usedMs <= IDLE_MS
  const at = (address: EndpointAddress): readonly Binding[] => [...(byAddress.get(formatEndpoint(address)) ?? [])]

  /**
   * The surest first: at a host of the peer, then confirmed, then those of hosts that have few of them, so that one machine with many
   * ports displaces only its own, then the latest.
   */
  function ranked(bindings: readonly Binding[]): readonly Binding[] {
    const ranks = new Map<Binding, readonly number[]>()
    const counts = new Map<string, number>()
    for (const each of bindings.toSorted(
      (a, b) => Number(b.isConfirmed) - Number(a.isConfirmed) || a.usedMs - b.usedMs,
    )) {
      const { nodeId, address, isConfirmed, usedMs } = each
      const before = counts.get(address.host) ?? 0
      counts.set(address.host, before + 1)
      ranks.set(each, [Number(isAtHost(nodeId, address.host)), Number(isConfirmed), -before, usedMs])
    }
    return bindings.toSorted((a, b) => compare(ranks.get(b) ?? [], ranks.get(a) ?? []))
  }

  function keep(nodeId: string, bindings: readonly Binding[]): void {
    const kept = ranked(bindings).slice(0, PER_PEER_MAX)
    for (const each of byNode.get(nodeId) ?? []) if (!kept.includes(each)) forget(each)
    for (const each of kept) byAddress.set(formatEndpoint(each.address), new Set(at(each.address)).add(each))
    if (kept.length === 0) byNode.delete(nodeId)
    else byNode.set(nodeId, kept)
  }

  function forget(binding: Binding): void {
    const key = formatEndpoint(binding.address)
    const others = at(binding.address).filter((each) => each !== binding)
    if (others.length === 0) byAddress.delete(key)
    else byAddress.set(key, new Set(others))
  }

  const live = (nodeId: string): readonly Binding[] => (byNode.get(nodeId) ?? []).filter(isLive)

  return {
    note(nodeId, address) {
      const present = live(nodeId)
      const same = present.find((each) => formatEndpoint(each.address) === formatEndpoint(address))
      const binding = same ?? { nodeId, address, usedMs: now(), isConfirmed: false }
      binding.usedMs = now()
      keep(nodeId, same === undefined ? [...present, binding] : present)
      return binding
    },
    confirm(binding) {
      binding.isConfirmed = true
      binding.usedMs = now()
      keep(binding.nodeId, [...new Set([...live(binding.nodeId), binding])])
    },
    of: (nodeId) => ranked(live(nodeId)),
    at: (address) => at(address).filter(isLive),
    sweep(isKnown) {
      for (const nodeId of byNode.keys()) keep(nodeId, isKnown(nodeId) ? live(nodeId) : [])
    },
  }
}

/** Compares ranks by their first difference. */
function compare(one: readonly number[], other: readonly number[]): number {
  const place = one.findIndex((value, index) => value !== other[index])
  return place === -1 ? 0 : (one[place] ?? 0) - (other[place] ?? 0)
}
