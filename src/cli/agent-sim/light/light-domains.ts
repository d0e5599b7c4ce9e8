import type { Statistics } from '../statistics.ts'
import { createChangeLedger } from './change-ledger.ts'
import type { LightDomain, LightNode } from './light-node.ts'

/** The Domains of a fleet of light agents, by id. */
export interface LightDomains {
  /** Makes it if it is new. */
  of(id: string): LightDomain
  /** Ends the wait for changes that are older than 90 s. */
  expire(nowMs: number): void
  /** Whether a change is still waited for. */
  areWaiting(): boolean
}

/** Makes none yet. The time until a change was delivered goes to the statistics. */
export function createLightDomains(statistics: Pick<Statistics, 'delivered' | 'count'>): LightDomains {
  const domains = new Map<string, LightDomain>()

  function create(): LightDomain {
    const members: LightNode[] = []
    const ledger = createChangeLedger({
      members: () => members.length,
      isListening: (member) => members[member]?.stream?.isOpen() === true,
      onDelivered: (elapsedMs) => statistics.delivered(elapsedMs),
      onUndelivered: () => statistics.count('undelivered_changes'),
    })
    return { members, ledger }
  }

  return {
    of(id) {
      const domain = domains.get(id) ?? create()
      domains.set(id, domain)
      return domain
    },
    expire(nowMs) {
      for (const { ledger } of domains.values()) ledger.expire(nowMs)
    },
    areWaiting: () => [...domains.values()].some(({ ledger }) => ledger.size() > 0),
  }
}
