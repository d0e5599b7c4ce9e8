/** Processes the items with at most `concurrency` at a time. Starts no item after `until` is aborted. */
export async function runConcurrently<T>(
  items: readonly T[],
  { concurrency, until }: { readonly concurrency: number; readonly until?: AbortSignal },
  work: (item: T) => Promise<void>,
): Promise<void> {
  const remaining = items.values()
  const worker = async (): Promise<void> => {
    for (const item of remaining) {
      if (until?.aborted === true) return
      await work(item)
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker))
}
