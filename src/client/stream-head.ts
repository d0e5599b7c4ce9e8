import { followStream, type FollowOptions, type Frame } from './event-stream.ts'

/** A position above every real one that a server can still represent: 2^53 - 1. */
const ABOVE_EVERY_HEAD = '9007199254740991'

const HEAD_MS_MAX = 10_000

export interface HeadOptions extends Omit<FollowOptions, 'lastEventId'> {
  /** Maximum wait for the first frame; 10,000 ms when absent. */
  readonly waitMsMax?: number
}

/**
 * Reads the head of a node's stream without its events. It resumes above the head; the server answers with a signed resync
 * whose `node_seq` is that of the node's last stored event, 0 if there is none, and whose `id` is the head of the stream
 * (decisions: Stream). Resolves with undefined if no frame arrives in time.
 *
 * @throws what `followStream` throws.
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
