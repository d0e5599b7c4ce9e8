import type { AuditEntry } from '../../ports/unit-of-work.ts'

/**
 * Audit rows of failures whose number is otherwise unlimited (decisions: Audit): failures of one source and kind have a row each up
 * to 10 in a minute, then one row with the `count` of the rest.
 */
export interface FailureRows {
  /** Takes a failure: its row is emitted at once, or counted. */
  add(source: string, kind: string, entry: AuditEntry): void
  /** Emits the counts of the current minute. */
  flush(): void
}

const WINDOW_MS = 60_000
/** Failures of one source and kind that have a row each. */
const ROWS_MAX = 10
/** Sources and kinds that are counted separately; beyond that they share one count. */
const KEYS_MAX = 10_000

interface Seen {
  rows: number
  /** The first failure without its own row, and their number. */
  rest: { readonly entry: AuditEntry; count: number } | undefined
}

/** Makes the rows of failures; `emit` takes them. */
export function createFailureRows(emit: (entry: AuditEntry) => void): FailureRows {
  let seen = new Map<string, Seen>()
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    const ended = seen
    seen = new Map()
    for (const { rest } of ended.values())
      if (rest !== undefined) emit({ ...rest.entry, context: { ...rest.entry.context, count: rest.count } })
  }

  function seenOf(own: string): Seen {
    const key = seen.has(own) || seen.size < KEYS_MAX ? own : 'others'
    const known = seen.get(key)
    if (known !== undefined) return known
    const first: Seen = { rows: 0, rest: undefined }
    seen.set(key, first)
    return first
  }

  return {
    add(source, kind, entry) {
      const of = seenOf(`${source} ${kind}`)
      timer ??= setTimeout(flush, WINDOW_MS).unref()
      if (of.rows < ROWS_MAX) {
        of.rows += 1
        return emit(entry)
      }
      of.rest ??= { entry, count: 0 }
      of.rest.count += 1
    },
    flush,
  }
}
