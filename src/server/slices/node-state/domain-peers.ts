import { LRUCache } from 'lru-cache'
import { createVisibility, type Visibility } from '../../policies/visibility.ts'
import { isOvergrown, withChanges } from '../../policies/world.ts'
import { bytesOf, hashed, NO_PEERS, withSegments, type PeerList } from './peer-list.ts'
import { renderPeer } from './peers.ts'
import type { PeerChanges } from './peers-store.ts'

export interface DomainPeersDeps {
  /** Reads the changes of a Domain's peers since a revision. */
  readonly read: (domainId: string, since: number) => Promise<PeerChanges>
  /** Maximum of Domains whose rendered peers are cached. */
  readonly listsMax?: number
  /** Memory that all lists may use, bytes; the list in use is kept even if it is larger. */
  readonly bytesMax?: number
}

/** The peers of Domains, rendered once and shared by all pulls. */
export interface DomainPeers {
  /** The Domain's peers at that committed revision or a later one; synchronous where they are cached. */
  at(domainId: string, revision: number): PeerList | Promise<PeerList>
  /** The cached list, of any revision. */
  last(domainId: string): PeerList | undefined
  /** Marks the Domain's list as used: a node that already has the state needs it in an outage. */
  touch(domainId: string): void
}

/**
 * Caches the lists of the most recently used Domains. A list that is behind is updated with the changes since its revision,
 * once for all waiting callers.
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
    const list = updated(known, await read(domainId, sinceOf(known)))
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

  /** A running refresh may have read before that revision was committed; the next one cannot. */
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

/** The revision since which the list reads changes. */
function sinceOf({ revision, visibility }: PeerList): number {
  return visibility !== undefined && isOvergrown(visibility.world) ? NO_PEERS.revision : revision
}

function updated(known: PeerList, changes: PeerChanges): PeerList {
  const { isWhole, peers, revision, world } = changes
  const segments = peers.map(renderPeer)
  const list = withSegments(isWhole ? NO_PEERS : known, world === undefined ? segments : segments.map(hashed), revision)
  return { ...list, visibility: visibilityOf(known, changes) }
}

function visibilityOf({ visibility }: PeerList, { world }: PeerChanges): Visibility | undefined {
  return world && createVisibility(withChanges(visibility?.world, world))
}
