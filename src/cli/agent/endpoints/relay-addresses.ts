import type { PeerFacts } from '../../../client/agent/peers/peer-book.ts'
import { formatEndpoint, parseEndpoint } from './endpoint-address.ts'

/** The addresses of the relays of the mesh. */
export interface RelayAddresses {
  /** Takes those of the peers that were accepted. */
  take(peers: readonly PeerFacts[]): void
  /** Whether a relay has that address, or had it before. */
  has(endpoint: string | undefined): boolean
  /** Those of now, the ones of most peers first, each as `formatEndpoint` writes it. */
  present(): readonly string[]
}

/** A tunnel may still lead to a relay that is gone. */
const FORMER_MAX = 64

/** Makes the list, empty. */
export function createRelayAddresses(): RelayAddresses {
  let present: readonly string[] = []
  let all: ReadonlySet<string> = new Set()
  return {
    take(peers) {
      const counts = new Map<string, number>()
      for (const { fallback_endpoint: fallback } of peers) {
        const text = canonical(fallback)
        if (text !== undefined) counts.set(text, (counts.get(text) ?? 0) + 1)
      }
      present = [...counts].toSorted(([, one], [, other]) => other - one).map(([text]) => text)
      const former = [...all].filter((text) => !counts.has(text)).slice(-FORMER_MAX)
      all = new Set([...former, ...present])
    },
    has: (endpoint) => all.has(canonical(endpoint) ?? ''),
    present: () => present,
  }
}

/** An endpoint as `formatEndpoint` writes it; undefined where there is none. */
export function canonical(endpoint: string | undefined): string | undefined {
  const address = endpoint === undefined ? undefined : parseEndpoint(endpoint)
  return address === undefined ? undefined : formatEndpoint(address)
}
