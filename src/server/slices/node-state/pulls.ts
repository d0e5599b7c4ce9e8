/** The revisions of the state that a node received. */
export interface Pull {
  readonly nodeId: string
  readonly peers: number
  readonly node: number
}

export interface PullsDeps {
  /** Stores a batch in one transaction: at most one pull a node, in ascending node id order; never a lower revision. */
  readonly write: (pulls: readonly Pull[]) => Promise<void>
  /** Called with a batch that could not be stored: its nodes are asked to pull once more. */
  readonly onFailure: (error: unknown) => void
}

/** Records what nodes have pulled, after their answers were sent. */
export interface Pulls {
  /** Returns at once. */
  note(pull: Pull): void
  /** Resolves when all records are stored. */
  settled(): Promise<void>
}

/** Nodes in one transaction: a heartbeat of one of them waits for its end. */
const BATCH_MAX = 512
/** Nodes that wait at most; those beyond are asked to pull once more. */
const WAITING_MAX = 20_000

/** One batch at a time: while one is being written, the next one collects. */
export function createPulls({ write, onFailure }: PullsDeps): Pulls {
  const waiting = new Map<string, Pull>()
  let running: Promise<void> | undefined

  function take(): readonly Pull[] {
    const batch = [...waiting.values()].slice(0, BATCH_MAX)
    for (const { nodeId } of batch) waiting.delete(nodeId)
    return batch.toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1))
  }

  async function run(): Promise<void> {
    // The answers of this turn are sent first.
    await new Promise(setImmediate)
    while (waiting.size > 0) {
      try {
        await write(take())
      } catch (error) {
        onFailure(error)
      }
    }
    running = undefined
  }

  return {
    note(pull) {
      const { nodeId, peers, node } = pull
      const known = waiting.get(nodeId)
      if (known === undefined && waiting.size >= WAITING_MAX) return
      waiting.set(nodeId, {
        nodeId,
        peers: Math.max(peers, known?.peers ?? peers),
        node: Math.max(node, known?.node ?? node),
      })
      running ??= run()
    },
    async settled() {
      await running
    },
  }
}
