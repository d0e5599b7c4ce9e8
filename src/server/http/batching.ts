import { problem } from '../../shared/problems.ts'

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

export interface Batching<Item, Result> {
  /** Processes a batch of items, and returns their results in the same order. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>
  /** Items of one lane have batches of their own: a slow lane does not delay others. Default: all share one. */
  readonly laneOf?: (item: Item) => string
  /** Weight of a batch at most; a heavier item has a batch of its own. */
  readonly batchMax: number
  /** What an item counts in a batch. Default: 1. */
  readonly weightOf?: (item: Item) => number
  /** Items that wait for a batch at most; one more is refused. */
  readonly waitingMax: number
}

/**
 * Processes concurrent requests in batches, those of a lane one after the other. Items that arrive while a batch is on its
 * way are in the next one, which begins after they were requested. Rejects with `datastore_unavailable` when too many wait
 * already, and with the error of the batch; those that wait in its lane are rejected, too, since each would fail after a
 * deadline of its own otherwise.
 */
export function createBatching<Item, Result>(options: Batching<Item, Result>): (item: Item) => Promise<Result> {
  const { run, laneOf = () => '', weightOf = () => 1, batchMax, waitingMax } = options
  /** The waiting items of each lane; a lane in this map has a batch on its way. */
  const lanes = new Map<string, Waiting<Item, Result>[]>()
  let waiting = 0

  async function runAll(lane: string, items: Waiting<Item, Result>[]): Promise<void> {
    lanes.set(lane, items)
    while (items.length > 0) await runBatch(items, take(items, nextSize(items)))
    lanes.delete(lane)
  }

  /** How many items the next batch has, one at least. */
  function nextSize(items: readonly Waiting<Item, Result>[]): number {
    let weight = 0
    const beyond = items.findIndex(({ item }) => (weight += weightOf(item)) > batchMax)
    return beyond === -1 ? items.length : Math.max(1, beyond)
  }

  function take(items: Waiting<Item, Result>[], max: number): Waiting<Item, Result>[] {
    const taken = items.splice(0, max)
    waiting -= taken.length
    return taken
  }

  async function runBatch(items: Waiting<Item, Result>[], batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item))
      for (const [index, result] of results.entries()) batch[index]?.resolve(result)
    } catch (error) {
      for (const { reject } of [...batch, ...take(items, items.length)]) reject(error)
    }
  }

  return (item) => {
    if (waiting >= waitingMax) return Promise.reject(problem('datastore_unavailable'))
    return new Promise((resolve, reject) => {
      waiting += 1
      const lane = laneOf(item)
      const items = lanes.get(lane)
      if (items === undefined) void runAll(lane, [{ item, resolve, reject }])
      else items.push({ item, resolve, reject })
    })
  }
}

/**
 * One of two lanes, so that this process makes one batch while the datastore commits the other. What is said of one id, that
 * of a Domain or a node, shares a lane, so that two batches never wait for each other's rows.
 */
export function laneOfTwo(id: string): string {
  return String(Number.parseInt(id.slice(-1), 16) % 2)
}
