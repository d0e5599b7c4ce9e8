import { followStream, type FollowOptions } from '../../../client/event-stream.ts'
import { readStreamHead } from '../../../client/stream-head.ts'
import type { FrameCheck } from './frame-check.ts'
import type { LookedAt } from './frame-printer.ts'
import { claimedNumber } from './node-rows.ts'

export interface KeptOptions extends Omit<FollowOptions, 'lastEventId'> {
  readonly since: string
  readonly check: FrameCheck
  /** Of all that is read the newest so many are answered. */
  readonly rowsMax: number
}

export interface Kept {
  readonly looked: readonly LookedAt[]
  /** How many older ones were read and left out. */
  readonly left: number
}

/** Nothing has come for so long: then nothing more is kept, whatever the server said of its head. */
const QUIET_MS = 2000

/** Reads what is kept after a position: to the last event that the server says it has, or until it is quiet. */
export async function readKept({ since, check, rowsMax, ...options }: KeptOptions): Promise<Kept> {
  const head = await readStreamHead(options)
  const lastNumber = head === undefined ? undefined : claimedNumber(head.data)
  const looked: LookedAt[] = []
  let left = 0
  if (lastNumber === 0 || options.signal.aborted) return { looked, left }

  const done = new AbortController()
  const finish = (): void => done.abort()
  options.signal.addEventListener('abort', finish, { once: true })
  let quiet: NodeJS.Timeout | undefined
  const listen = (): void => {
    clearTimeout(quiet)
    quiet = setTimeout(finish, QUIET_MS)
  }
  try {
    await followStream(
      { ...options, signal: done.signal, lastEventId: since },
      {
        opened() {
          check.connected()
          listen()
        },
        async frame(frame) {
          const verdict = await check.look(frame)
          looked.push({ frame, verdict })
          if (looked.length > rowsMax) left += looked.splice(0, looked.length - rowsMax).length
          const number = verdict.isTaken ? claimedNumber(frame.data) : undefined
          if (lastNumber !== undefined && number !== undefined && number >= lastNumber) finish()
          else listen()
          return verdict.isTaken
        },
      },
    )
  } finally {
    clearTimeout(quiet)
    options.signal.removeEventListener('abort', finish)
  }
  return { looked, left }
}
