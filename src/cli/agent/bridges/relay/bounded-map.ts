/** How much a map keeps, and how long. */
export interface MapBounds {
  readonly entriesMax: number
  /** Of one owner: an owner that has more loses its own oldest ones. */
  readonly perOwnerMax: number
  /** An entry that was not used for so long is gone. */
  readonly idleMs: number
}

/** Entries by key, each of an owner. */
export interface BoundedMap<Value> {
  /** Adds an entry, or replaces it. */
  set(key: string, owner: string, value: Value): void
  /** Finds an entry that is not idle. */
  get(key: string): Value | undefined
  /** Finds it, and counts as use of it. */
  use(key: string): Value | undefined
  /** The entries of an owner that are not idle, by when they were added. */
  ofOwner(owner: string): readonly Value[]
  /** Removes idle entries. */
  sweep(): void
  readonly size: number
}

interface Entry<Value> {
  readonly owner: string
  readonly value: Value
  usedMs: number
}

/** Makes an empty one. `now`: milliseconds. */
export function createBoundedMap<Value>(bounds: MapBounds, now: () => number): BoundedMap<Value> {
  const { entriesMax, perOwnerMax, idleMs } = bounds
  const entries = new Map<string, Entry<Value>>()
  const owned = new Map<string, Set<string>>()

  const isIdle = ({ usedMs }: Entry<Value>): boolean => now() - usedMs > idleMs

  function remove(key: string): void {
    const owner = entries.get(key)?.owner
    if (owner === undefined) return
    entries.delete(key)
    const keys = owned.get(owner)
    keys?.delete(key)
    if (keys?.size === 0) owned.delete(owner)
  }

  function find(key: string): Entry<Value> | undefined {
    const entry = entries.get(key)
    return entry === undefined || isIdle(entry) ? undefined : entry
  }

  function removeFirst(keys: Iterable<string>): void {
    for (const key of keys) return remove(key)
  }

  return {
    set(key, owner, value) {
      remove(key)
      const keys = owned.get(owner) ?? new Set()
      if (keys.size >= perOwnerMax) removeFirst(keys)
      if (entries.size >= entriesMax) removeFirst(entries.keys())
      entries.set(key, { owner, value, usedMs: now() })
      owned.set(owner, keys.add(key))
    },
    get: (key) => find(key)?.value,
    use(key) {
      const entry = find(key)
      if (entry !== undefined) entry.usedMs = now()
      return entry?.value
    },
    ofOwner: (owner) => [...(owned.get(owner) ?? [])].flatMap((key) => find(key)?.value ?? []),
    sweep() {
      for (const [key, entry] of entries) if (isIdle(entry)) remove(key)
    },
    get size() {
      return entries.size
    },
  }
}
