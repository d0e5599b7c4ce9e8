/** An entry that is called once in every round. */
export interface KeptAlive {
  keepAlive(): void
}

/** Calls many entries, each in its own phase of the round, with one timer. */
export interface KeepaliveScheduler<T extends KeptAlive> {
  add(one: T): void
  remove(one: T): void
  stop(): void
}

const SLOTS = 250

/** Creates a scheduler with a round of the given ms. Its timer runs while there are entries, and does not keep the process alive. */
export function createKeepaliveScheduler<T extends KeptAlive>(roundMs: number): KeepaliveScheduler<T> {
  const slots = Array.from({ length: SLOTS }, () => new Set<T>())
  const places = new Map<T, Set<T>>()
  const stepMs = Math.max(1, roundMs / SLOTS)
  let timer: NodeJS.Timeout | undefined
  let startedAt = 0
  let steps = 0

  /** A process that was suspended catches up, by one round at most. */
  function advance(): void {
    const due = Math.floor((performance.now() - startedAt) / stepMs)
    steps = Math.max(steps, due - SLOTS)
    for (; steps < due; steps++) {
      for (const one of slots[steps % SLOTS] ?? []) one.keepAlive()
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
