/** A bounded map for hot paths: reading an entry moves nothing and allocates nothing. */
export interface SecondChanceMap<Value> {
  /** Gives the value and marks it as used. */
  get(key: string): Value | undefined
  /** Gives the value and does not mark it. */
  peek(key: string): Value | undefined
  /** Adds the entry, in the place of another where the map is full. An entry that is there gets the value and is marked as used. */
  set(key: string, value: Value): void
  delete(key: string): void
  clear(): void
}

/** Mutable on purpose: an eviction reuses the slot. */
interface Slot<Value> {
  key: string
  value: Value
  wasUsed: boolean
  /** Its index in the ring. */
  place: number
}

/**
 * Makes a map of at most `entriesMax` entries, one at least. A full map evicts the entry that was added longest ago; one
 * that was used since the last look at it is passed over once. The order is a ring beside the map: taking a key out of a
 * map and putting it back, time and again, leaves holes that make each look-up slower (decision 0016).
 *
 * A deletion puts the newest place of the ring into the one that it frees, so that this entry may be evicted early.
 */
export function createSecondChanceMap<Value>(
  entriesMax: number,
  onEvicted: (key: string, value: Value) => void = () => undefined,
): SecondChanceMap<Value> {
  const slots = new Map<string, Slot<Value>>()
  const ring: Slot<Value>[] = []
  let hand = 0

  /** The slot to be reused. */
  function evict(): Slot<Value> | undefined {
    // Two rounds find one: the first takes every mark away.
    for (let looks = 0; looks < ring.length * 2; looks++) {
      const slot = ring[hand]
      hand = (hand + 1) % ring.length
      if (slot === undefined) continue
      if (slot.wasUsed) slot.wasUsed = false
      else return slot
    }
    return undefined
  }

  function add(key: string, value: Value): void {
    const evicted = ring.length < entriesMax ? undefined : evict()
    if (evicted === undefined) {
      const slot = { key, value, wasUsed: false, place: ring.length }
      ring.push(slot)
      slots.set(key, slot)
      return
    }
    slots.delete(evicted.key)
    onEvicted(evicted.key, evicted.value)
    evicted.key = key
    evicted.value = value
    slots.set(key, evicted)
  }

  return {
    get(key) {
      const slot = slots.get(key)
      if (slot === undefined) return undefined
      slot.wasUsed = true
      return slot.value
    },
    peek: (key) => slots.get(key)?.value,
    set(key, value) {
      const slot = slots.get(key)
      if (slot === undefined) return add(key, value)
      slot.value = value
      slot.wasUsed = true
    },
    delete(key) {
      const slot = slots.get(key)
      const last = ring.at(-1)
      if (slot === undefined || last === undefined) return
      slots.delete(key)
      ring[slot.place] = last
      last.place = slot.place
      ring.pop()
      if (hand >= ring.length) hand = 0
    },
    clear() {
      slots.clear()
      ring.length = 0
      hand = 0
    },
  }
}
