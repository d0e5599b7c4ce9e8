/** Remembers the newest values, a bounded number of them; the oldest goes first. */
export interface LastKnown<Value> {
  get(key: string): Value | undefined
  /** Keeps the value as the newest. */
  keep(key: string, value: Value): void
  drop(key: string): void
}

/** A value between the next older and the next newer one. */
interface Link<Value> {
  readonly key: string
  value: Value
  older: Link<Value> | undefined
  newer: Link<Value> | undefined
}

/**
 * Makes the memory. The order is a list of its own: taking a key out of a map and putting it back, time and again, leaves
 * so many holes in its chain that finding it costs microseconds.
 */
export function createLastKnown<Value>(entriesMax: number): LastKnown<Value> {
  const kept = new Map<string, Link<Value>>()
  let oldest: Link<Value> | undefined
  let newest: Link<Value> | undefined

  function unlink(link: Link<Value>): void {
    if (link.older === undefined) oldest = link.newer
    else link.older.newer = link.newer
    if (link.newer === undefined) newest = link.older
    else link.newer.older = link.older
  }

  function append(link: Link<Value>): void {
    link.older = newest
    link.newer = undefined
    if (newest === undefined) oldest = link
    else newest.newer = link
    newest = link
  }

  function add(key: string, value: Value): void {
    if (kept.size >= entriesMax && oldest !== undefined) {
      kept.delete(oldest.key)
      unlink(oldest)
    }
    const link: Link<Value> = { key, value, older: undefined, newer: undefined }
    kept.set(key, link)
    append(link)
  }

  return {
    get: (key) => kept.get(key)?.value,
    keep(key, value) {
      const link = kept.get(key)
      if (link === undefined) return add(key, value)
      link.value = value
      if (link === newest) return
      unlink(link)
      append(link)
    },
    drop(key) {
      const link = kept.get(key)
      if (link === undefined) return
      kept.delete(key)
      unlink(link)
    },
  }
}
