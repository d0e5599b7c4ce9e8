/** Something that has its turn once in every round. */
export interface Turning {
  turn(): void
}

/** Gives many things their turn, each in its own phase, with one timer. */
export interface Wheel<T extends Turning> {
  add(one: T): void
  remove(one: T): void
  stop(): void
}

const SLOTS = 250

/** Makes a wheel that goes round in so many ms. It runs while there is anything on it, and holds no process up. */
export function createWheel<T extends Turning>(roundMs: number): Wheel<T> {
  const slots = Array.from({ length: SLOTS }, () => new Set<T>())
  const places = new Map<T, Set<T>>()
  const stepMs = Math.max(1, roundMs / SLOTS)
  let timer: NodeJS.Timeout | undefined
  let startedAt = 0
  let steps = 0

  /** A process that was held up catches up, by one round at most. */
  function advance(): void {
    const due = Math.floor((performance.now() - startedAt) / stepMs)
    steps = Math.max(steps, due - SLOTS)
    for (; steps < due; steps++) {
      for (const one of slots[steps % SLOTS] ?? []) one.turn()
    }
  }

  function stop(): void {
    clearInterval(timer)
    timer = undefined
  }

  return {
    stop,
    add(one) {
      const slot = slots[Math.floor(Math.random() * SLOTS)]
      slot?.add(one)
      if (slot !== undefined) places.set(one, slot)
      if (timer !== undefined) return
      startedAt = performance.now()
      steps = 0
      timer = setInterval(advance, stepMs).unref()
    },
    remove(one) {
      places.get(one)?.delete(one)
      places.delete(one)
      if (places.size === 0) stop()
    },
  }
}
