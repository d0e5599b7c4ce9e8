import { followStream, type FollowOptions, type Frame } from './event-stream.ts'

/** A position above every one that a server gives out, and that it can represent: 2^53 - 1. */
const ABOVE_EVERY_HEAD = '9007199254740991'

const HEAD_MS_MAX = 10_000

export interface HeadOptions extends Omit<FollowOptions, 'lastEventId'> {
  /** Until the first frame is here; 10,000 ms when absent. */
  readonly waitMsMax?: number
}

/**
 * The frame with which a server answers a resume point above its head: a resync whose `node_seq` is that of the last event
 * of the node that it keeps, 0 where it keeps none, and whose `id` is its head (decisions: Stream). So it says, signed, how
 * far a node's events go, without sending one of them. Undefined where it comes to nothing in time. Throws as
 * `followStream` does.
 */
export async function readStreamHead({ waitMsMax = HEAD_MS_MAX, ...options }: HeadOptions): Promise<Frame | undefined> {
  const found = new AbortController()
  const giveUp = (): void => found.abort()
  const timer = setTimeout(giveUp, waitMsMax)
  options.signal.addEventListener('abort', giveUp, { once: true })
  let head: Frame | undefined
  try {
    await followStream(
      { ...options, signal: found.signal, lastEventId: ABOVE_EVERY_HEAD },
      {
        frame(frame) {
          head ??= frame
          found.abort()
          return true
        },
      },
    )
    return head
  } finally {
    clearTimeout(timer)
    options.signal.removeEventListener('abort', giveUp)
  }
}
