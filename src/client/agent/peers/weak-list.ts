/** Objects that are forgotten once nothing else refers to them. */
export interface WeakList<T extends object> {
  add(item: T): void
  /** Those that are still referred to, and perhaps some that were until a moment ago. */
  alive(): readonly T[]
}

/** Fewer references to what is gone are not worth a search. */
const GONE_MIN = 1_000

/** Makes an empty list. */
export function createWeakList<T extends object>(): WeakList<T> {
  let items: WeakRef<T>[] = []
  let itemsMax = GONE_MIN
  return {
    add(item) {
      items.push(new WeakRef(item))
      if (items.length <= itemsMax) return
      items = items.filter((each) => each.deref() !== undefined)
      itemsMax = 2 * items.length + GONE_MIN
    },
    alive: () => items.flatMap((each) => each.deref() ?? []),
  }
}
