import { LRUCache } from 'lru-cache'
import { createVisibility, type Visibility } from './visibility.ts'
import type { ReadWorld } from './world-store.ts'
import { isOvergrown, withChanges } from './world.ts'

export interface WorldsDeps {
  /** Reads the changes of a Domain's world since a revision. */
  readonly read: (domainId: string, since: number) => Promise<ReadWorld>
  /** Maximum of Domains that are cached. */
  readonly worldsMax?: number
}

/** Who sees whom in Domains, read once and kept up to date. */
export interface Worlds {
  /** At that committed revision of the Domain's peers or a later one; undefined where all nodes see all others. */
  at(domainId: string, revision: number): Promise<Visibility | undefined>
  /** At the latest revision: reads what changed, if anything. */
  latest(domainId: string): Promise<Visibility | undefined>
}

interface Known {
  readonly revision: number
  readonly visibility: Visibility | undefined
}

const UNKNOWN: Known = { revision: -1, visibility: undefined }

/** Caches those of the most recently used Domains. */
export function createWorlds({ read, worldsMax = 64 }: WorldsDeps): Worlds {
  const worlds = new LRUCache<string, Known>({ max: worldsMax })
  const flights = new Map<string, Promise<Known>>()

  async function refresh(domainId: string): Promise<Known> {
    const known = worlds.peek(domainId) ?? UNKNOWN
    const fresh = updated(known, await read(domainId, sinceOf(known)))
    worlds.set(domainId, fresh)
    return fresh
  }

  /** Begins a read after the running one, so that it sees everything that is committed now. */
  function next(domainId: string): Promise<Known> {
    const running = flights.get(domainId)
    const begin = (): Promise<Known> => refresh(domainId)
    const flight = running === undefined ? begin() : running.then(begin, begin)
    flights.set(domainId, flight)
    const end = (): void => {
      if (flights.get(domainId) === flight) flights.delete(domainId)
    }
    flight.then(end, end)
    return flight
  }

  async function reach(domainId: string, revision: number): Promise<Visibility | undefined> {
    const joined = await (flights.get(domainId) ?? next(domainId))
    return joined.revision >= revision ? joined.visibility : (await next(domainId)).visibility
  }

  return {
    async at(domainId, revision) {
      const known = worlds.get(domainId)
      return known === undefined || known.revision < revision ? reach(domainId, revision) : known.visibility
    },
    latest: async (domainId) => (await next(domainId)).visibility,
  }
}

function sinceOf({ revision, visibility }: Known): number {
  return visibility !== undefined && isOvergrown(visibility.world) ? UNKNOWN.revision : revision
}

function updated(known: Known, { revision, changes }: ReadWorld): Known {
  if (changes === undefined) return { revision, visibility: undefined }
  // A view of the same revision keeps what it has computed.
  if (revision === known.revision && known.visibility !== undefined && !changes.isWhole) return known
  return { revision, visibility: createVisibility(withChanges(known.visibility?.world, changes)) }
}
