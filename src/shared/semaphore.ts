/** Bounds the number of concurrent works. */
export interface Slots {
  /** Runs the work once a slot is free; waiting calls get slots in order of arrival. Rejects as the work does. */
  run<T>(work: () => Promise<T>): Promise<T>
}

/** Maximum of waiting calls, and the error for a further one. */
interface WaitingRoom {
  readonly max: number
  readonly refusal: () => Error
}

export function createSlots(max: number, room?: WaitingRoom): Slots {
  const waiting: (() => void)[] = []
  let free = max

  function enter(): Promise<void> | undefined {
    if (free > 0) {
      free -= 1
      return undefined
    }
    if (room !== undefined && waiting.length >= room.max) throw room.refusal()
    return new Promise((resolve) => void waiting.push(resolve))
  }

  function leave(): void {
    const next = waiting.shift()
    if (next === undefined) free += 1
    else next()
  }

  return {
    async run(work) {
      await enter()
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}
