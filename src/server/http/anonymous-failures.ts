import type { AuditEntry } from '../ports/unit-of-work.ts'

/** One row for all refusals of one address in one minute (decisions: Audit), so that a flood cannot fill the log. */
export interface AnonymousFailures {
  count(address: string, relation: string, entry: () => AuditEntry): void
  /** Hands over everything that was gathered. */
  flush(): void
}

const WINDOW_MS = 60_000
/** Addresses and relations that are told apart; beyond it they share one row. */
const KEYS_MAX = 10_000

/** Gathers failures and hands one entry per key and minute to `emit`, with their `count`. */
export function createAnonymousFailures(emit: (entry: AuditEntry) => void): AnonymousFailures {
  let gathered = new Map<string, { entry: AuditEntry; count: number }>()
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    const ready = gathered
    gathered = new Map()
    for (const { entry, count } of ready.values()) emit({ ...entry, context: { ...entry.context, count } })
  }

  return {
    count(address, relation, entry) {
      const own = `${address} ${relation}`
      const key = gathered.has(own) || gathered.size < KEYS_MAX ? own : 'others'
      const seen = gathered.get(key)
      if (seen) seen.count++
      else gathered.set(key, { entry: entry(), count: 1 })
      timer ??= setTimeout(flush, WINDOW_MS).unref()
    },
    flush,
  }
}
