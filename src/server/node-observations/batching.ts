import { problem } from '../../shared/problems.ts'

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

export interface Batching<Item, Result> {
  /** Does the work for some items at once, and gives their results in the same order. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>
  readonly batchMax: number
  /** Items that wait for a batch at most; one more is refused. */
  readonly waitingMax: number
}

/**
 * Does what many ask for at the same time in batches, one after the other: what comes while a batch is on its way is in
 * the next one, whose work begins after it was asked for. Rejects with `datastore_unavailable` when too many wait already,
 * and with the error of the batch; those that wait then are refused too, since each would fail after a deadline of its own.
 */
export function createBatching<Item, Result>(options: Batching<Item, Result>): (item: Item) => Promise<Result> {
  const { run, batchMax, waitingMax } = options
  let waiting: Waiting<Item, Result>[] = []
  let isUnderWay = false

  async function runAll(): Promise<void> {
    isUnderWay = true
    while (waiting.length > 0) await runBatch(waiting.splice(0, batchMax))
    isUnderWay = false
  }

  async function runBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item))
      for (const [index, result] of results.entries()) batch[index]?.resolve(result)
    } catch (error) {
      const refused = [...batch, ...waiting]
      waiting = []
      for (const { reject } of refused) reject(error)
    }
  }

  return (item) => {
    if (waiting.length >= waitingMax) return Promise.reject(problem('datastore_unavailable'))
    return new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!isUnderWay) void runAll()
    })
  }
}
