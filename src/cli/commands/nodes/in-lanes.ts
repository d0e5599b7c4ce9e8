/** Calls that one command makes at once. */
export const LANES = 8

/** Runs `work` on each item, so many at once, in order of the items; ends early, without error, when the signal is aborted. */
export async function inLanes<T>(
  items: readonly T[],
  { lanes, signal }: { readonly lanes: number; readonly signal?: AbortSignal },
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values()
  const lane = async (): Promise<void> => {
    for (const item of waiting) {
      if (signal?.aborted === true) return
      await work(item)
    }
  }
  await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, lane))
}
