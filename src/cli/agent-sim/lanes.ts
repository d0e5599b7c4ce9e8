/** Works through the items, so many at once; begins none after `until`. */
export async function inLanes<T>(
  items: readonly T[],
  { concurrency, until }: { readonly concurrency: number; readonly until?: AbortSignal },
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values()
  const lane = async (): Promise<void> => {
    for (const item of waiting) {
      if (until?.aborted === true) return
      await work(item)
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, lane))
}
