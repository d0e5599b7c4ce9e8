/** Lets at most so many works run at once; the others wait in the order of their arrival. */
export function createSlots(max: number): { run<T>(work: () => Promise<T>): Promise<T> } {
  const waiting: (() => void)[] = []
  let free = max
  return {
    async run(work) {
      if (free > 0) free -= 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next === undefined) free += 1
        else next()
      }
    },
  }
}
