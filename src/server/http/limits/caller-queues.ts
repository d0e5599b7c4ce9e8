/** Maximum of concurrent handlers of one caller while the server is busy. */
const AT_ONCE_MAX = 32

/** How long a request waits for other requests of its caller, ms: the timeout of a statement. */
const WAIT_MS = 5_000

/** The work of a request. It calls `end` once. */
type Work = (end: () => void) => void

/** Limits the concurrent work of each caller while the server is busy. */
export interface CallerQueues {
  /** Starts the work now, or when enough earlier work of the caller has ended; calls `onLate` instead if that takes too long. */
  begin(caller: string, work: Work, onLate: () => void): void
}

export interface CallerQueuesDeps {
  /** Whether the load is so high that callers could delay each other. */
  readonly isBusy: () => boolean
  readonly atOnceMax?: number | undefined
  readonly waitMs?: number | undefined
}

interface Waiting {
  readonly work: Work
  readonly timer: NodeJS.Timeout
}

/** The running work of one caller, and its queue. */
interface Queue {
  running: number
  readonly waiting: Set<Waiting>
  isAdvancing: boolean
}

const NOTHING_TO_END = (): void => undefined

/**
 * The datastore serves statements in the order in which they arrive. Without these queues, a caller with hundreds of
 * concurrent requests makes every other caller wait for all of them. A caller's connections bound its waiting requests.
 */
export function createCallerQueues({
  isBusy,
  atOnceMax = AT_ONCE_MAX,
  waitMs = WAIT_MS,
}: CallerQueuesDeps): CallerQueues {
  const queues = new Map<string, Queue>()

  /** Uses a loop instead of recursion: work that ends synchronously would overflow the stack. */
  function advance(caller: string, queue: Queue): void {
    if (queue.isAdvancing) return
    queue.isAdvancing = true
    for (const next of queue.waiting) {
      if (queue.running >= atOnceMax) break
      queue.waiting.delete(next)
      clearTimeout(next.timer)
      start(caller, queue, next.work)
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

  function wait({ waiting }: Queue, work: Work, onLate: () => void): void {
    const late = (): void => {
      waiting.delete(one)
      onLate()
    }
    const one = { work, timer: setTimeout(late, waitMs) }
    waiting.add(one)
  }

  return {
    begin(caller, work, onLate) {
      if (!isBusy()) return work(NOTHING_TO_END)
      const queue = queues.get(caller) ?? { running: 0, waiting: new Set(), isAdvancing: false }
      if (queue.running === 0) queues.set(caller, queue)
      if (queue.running < atOnceMax) start(caller, queue, work)
      else wait(queue, work, onLate)
    },
  }
}
