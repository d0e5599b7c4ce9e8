import { LRUCache } from 'lru-cache'
import { bytesOf, NO_PEERS, withSegments, type PeerList } from './peer-list.ts'
import { renderPeer } from './peers.ts'
import type { PeerChanges } from './store.ts'

export interface DomainPeersDeps {
  /** Reads what changed of a Domain's peers since a revision. */
  readonly read: (domainId: string, since: number) => Promise<PeerChanges>
  /** Domains whose peers are kept rendered. */
  readonly listsMax?: number
  /** Memory that they may take together, bytes; the list that is asked for is kept whatever it takes. */
  readonly bytesMax?: number
}

/** The peers of Domains, rendered once and shared by all who pull. */
export interface DomainPeers {
  /** The Domain's peers at that revision, which is committed, or at a later one; at once where they are known. */
  at(domainId: string, revision: number): PeerList | Promise<PeerList>
  /** As they were known last. */
  last(domainId: string): PeerList | undefined
  /** Somebody has them already who would ask for them: they are kept as if they had been asked for. */
  touch(domainId: string): void
}

/**
 * Keeps the lists of the Domains that were asked for last. One that is behind is brought up to date by what changed since,
 * once for all who wait for it.
 */
export function createDomainPeers({ read, listsMax = 64, bytesMax = 256 * 1024 * 1024 }: DomainPeersDeps): DomainPeers {
  const lists = new LRUCache<string, PeerList>({
    max: listsMax,
    maxSize: bytesMax,
    // A list that takes more than all may is kept alone.
    sizeCalculation: (list) => Math.max(1, Math.min(bytesOf(list), bytesMax)),
  })
  const flights = new Map<string, Promise<PeerList>>()

  async function refresh(domainId: string): Promise<PeerList> {
    const known = lists.peek(domainId) ?? NO_PEERS
    const changes = await read(domainId, known.revision)
    const list = withSegments(changes.isWhole ? NO_PEERS : known, changes.peers.map(renderPeer), changes.revision)
    lists.set(domainId, list)
    return list
  }

  function refreshOnce(domainId: string): Promise<PeerList> {
    const underWay = flights.get(domainId)
    if (underWay !== undefined) return underWay
    const flight = refresh(domainId).finally(() => flights.delete(domainId))
    flights.set(domainId, flight)
    return flight
  }

  /** A refresh that was under way may have read before that revision was committed; the next one cannot have. */
  async function reach(domainId: string, revision: number): Promise<PeerList> {
    const joined = await refreshOnce(domainId)
    return joined.revision >= revision ? joined : refreshOnce(domainId)
  }

  return {
    at(domainId, revision) {
      const list = lists.get(domainId)
      return list === undefined || list.revision < revision ? reach(domainId, revision) : list
    },
    last: (domainId) => lists.peek(domainId),
    touch: (domainId) => void lists.get(domainId),
  }
}
