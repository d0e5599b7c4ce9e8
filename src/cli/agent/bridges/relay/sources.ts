import { formatEndpoint, type EndpointAddress } from '../../endpoints/endpoint-address.ts'
import { createBoundedMap } from './bounded-map.ts'
import { createTokenBucket, type BucketSize, type TokenBucket } from './token-bucket.ts'

/** An address from which handshakes came, and to which peers they were addressed. */
export interface Source {
  readonly address: EndpointAddress
  /** Node ids, the latest last. The source is none of these. */
  readonly targets: readonly string[]
}

/** The addresses from which handshakes come. */
export interface Sources {
  /** Whether the address may begin one more handshake. */
  admits(from: EndpointAddress): boolean
  /** Remembers that the address began a handshake with that node. */
  note(from: EndpointAddress, nodeId: string): void
  find(from: EndpointAddress): Source | undefined
  /** Those of a host. */
  at(host: string): readonly Source[]
  sweep(): void
  readonly size: number
}

/** Handshakes of one address: that of a node with many relayed edges, which begin together. */
const INITIATIONS: BucketSize = { burst: 200, perSecond: 50 }
const SOURCES = { entriesMax: 16_384, perOwnerMax: 128, idleMs: 180_000 } as const
const LIMITS = { ...SOURCES, idleMs: 10_000 } as const
const TARGETS_MAX = 16

/** Makes the list, empty. `now`: milliseconds. */
export function createSources(now: () => number): Sources {
  const sources = createBoundedMap<Source>(SOURCES, now)
  const limits = createBoundedMap<TokenBucket>(LIMITS, now)

  return {
    admits(from) {
      const key = formatEndpoint(from)
      const known = limits.use(key)
      const limit = known ?? createTokenBucket(INITIATIONS, now)
      if (known === undefined) limits.set(key, from.host, limit)
      return limit.take(1)
    },
    note(from, nodeId) {
      const key = formatEndpoint(from)
      const { targets = [] } = sources.get(key) ?? {}
      const others = targets.filter((target) => target !== nodeId)
      sources.set(key, from.host, { address: from, targets: [...others, nodeId].slice(-TARGETS_MAX) })
    },
    find: (from) => sources.get(formatEndpoint(from)),
    at: (host) => sources.ofOwner(host),
    sweep() {
      sources.sweep()
      limits.sweep()
    },
    get size() {
      return sources.size + limits.size
    },
  }
}
