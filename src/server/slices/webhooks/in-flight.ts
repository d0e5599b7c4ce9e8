import type { DueDelivery } from './claims-store.ts'

/** Attempts of this process at once: in all, in one Domain, to one webhook, and to one whose last attempt failed. */
const MAX = { all: 64, domain: 8, webhook: 2, failing: 1 } as const

/** The attempts that this process is making. A slow endpoint holds up its own messages, and at most the share of its Domain. */
export interface InFlight {
  isFull(): boolean
  /** What a query of due deliveries leaves out, and how many it may return. */
  room(): {
    readonly max: number
    readonly maxOfWebhook: number
    readonly busyWebhooks: readonly string[]
    readonly sendingWebhooks: readonly string[]
    readonly busyDomains: readonly string[]
  }
  /** Those for which there is room, in the order given. */
  choose(due: readonly DueDelivery[]): readonly DueDelivery[]
  /** Counts an attempt until it ends, and resolves then. It must not reject. */
  run(delivery: Pick<DueDelivery, 'webhook_id' | 'domain_id'>, attempt: () => Promise<void>): Promise<void>
  /** Resolves when no attempt is being made. */
  ended(): Promise<void>
}

export function createInFlight(): InFlight {
  const running = new Set<Promise<void>>()
  const ofWebhook = new Map<string, number>()
  const ofDomain = new Map<string, number>()

  function choose(due: readonly DueDelivery[]): readonly DueDelivery[] {
    const [webhooks, domains] = [new Map(ofWebhook), new Map(ofDomain)]
    let free = MAX.all - running.size
    return due.filter(({ webhook_id: webhook, domain_id: domain, failures }) => {
      const most = failures > 0 ? MAX.failing : MAX.webhook
      if (free === 0 || countOf(webhooks, webhook) >= most || countOf(domains, domain) >= MAX.domain) return false
      free -= 1
      add(webhooks, webhook, 1)
      add(domains, domain, 1)
      return true
    })
  }

  return {
    isFull: () => running.size >= MAX.all,
    room: () => ({
      max: MAX.all - running.size,
      maxOfWebhook: MAX.webhook,
      busyWebhooks: atLeast(ofWebhook, MAX.webhook),
      sendingWebhooks: atLeast(ofWebhook, MAX.failing),
      busyDomains: atLeast(ofDomain, MAX.domain),
    }),
    choose,
    run({ webhook_id: webhook, domain_id: domain }, attempt) {
      add(ofWebhook, webhook, 1)
      add(ofDomain, domain, 1)
      const ended = attempt().finally(() => {
        add(ofWebhook, webhook, -1)
        add(ofDomain, domain, -1)
        running.delete(ended)
      })
      running.add(ended)
      return ended
    },
    async ended() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

function countOf(counts: ReadonlyMap<string, number>, key: string): number {
  return counts.get(key) ?? 0
}

function add(counts: Map<string, number>, key: string, more: number): void {
  const count = countOf(counts, key) + more
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}

function atLeast(counts: ReadonlyMap<string, number>, least: number): readonly string[] {
  return [...counts].filter(([, count]) => count >= least).map(([key]) => key)
}
