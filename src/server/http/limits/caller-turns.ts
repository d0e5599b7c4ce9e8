/** Requests of one caller whose handlers work at the same time once the server has much to do. */
const AT_ONCE_MAX = 32

/** Divides a busy server between its callers. */
export interface CallerTurns {
  /** Begins the work of a caller now, or when it is the caller's turn. The work calls `end` once. */
  begin(caller: string, work: Work): void
}

export interface CallerTurnsDeps {
  /** Whether so much is under way that callers could be in each other's way. */
  readonly isBusy: () => boolean
  readonly atOnceMax?: number | undefined
}

/** What one caller has under way, and what waits for that, in order. */
interface Queue {
  running: number
  readonly waiting: Work[]
  isAdvancing: boolean
}

type Work = (end: () => void) => void

const NOTHING_TO_END = (): void => undefined

/**
 * The datastore serves statements in the order in which they arrive. Without this, a caller with hundreds of requests
 * under way makes everybody else wait for all of them. What a caller has waiting is bounded by its connections.
 */
export function createCallerTurns({ isBusy, atOnceMax = AT_ONCE_MAX }: CallerTurnsDeps): CallerTurns {
  const queues = new Map<string, Queue>()

  /** A loop and no recursion: works that end at once would fill the stack. */
  function advance(caller: string, queue: Queue): void {
    if (queue.isAdvancing) return
    queue.isAdvancing = true
    while (queue.running < atOnceMax) {
      const work = queue.waiting.shift()
      if (work === undefined) break
      start(caller, queue, work)
    }
    queue.isAdvancing = false
    if (queue.running === 0) queues.delete(caller)
  }

  function start(caller: string, queue: Queue, work: Work): void {
    queue.running += 1
    work(() => {
      queue.running -= 1
      advance(caller, queue)
    })
  }

  return {
    begin(caller, work) {
      if (!isBusy()) return work(NOTHING_TO_END)
      const queue = queues.get(caller) ?? { running: 0, waiting: [], isAdvancing: false }
      if (queue.running === 0) queues.set(caller, queue)
      if (queue.running < atOnceMax) start(caller, queue, work)
      else queue.waiting.push(work)
    },
  }
}
