/** The facts of an event that decide its order; they must come from a verified envelope. */
export interface Numbered {
  /** The node's own count: the next event has the next number. */
  readonly nodeSeq: number
  readonly occurredAtMs: number
  /** The event is marked: more changed than it carries. */
  readonly isResync: boolean
}

/**
 * How an event follows those before it.
 * `first`: nothing was expected; `next`: as expected; `gap`: numbers before it are missing; `reordered`: one of the missing,
 * late; `duplicate`: seen before, must be ignored; `resync`: the stream restarts after it, and the events between
 * are not sent.
 */
export type Place =
  | { readonly kind: 'first' | 'next' | 'reordered' | 'duplicate' }
  | { readonly kind: 'gap'; readonly from: number; readonly to: number }
  | { readonly kind: 'resync'; readonly skipped: number }

/** Follows the numbers of one node's events over any number of connections. */
export interface EventOrder {
  /** A connection begins: its first frame may be a resync that the server made for it. */
  connected(): void
  take(event: Numbered): Place
  /** The highest number seen; undefined before the first event. */
  last(): number | undefined
  /** Numbers that are still missing. */
  missing(): number
}

export interface EventOrderOptions {
  /** The last number seen earlier; 0 where every event from the node's first on is expected. Undefined: begins with any number. */
  readonly last?: number | undefined
  /** When the newest event seen earlier occurred; unknown by default. */
  readonly latestMs?: number | undefined
}

interface Hole {
  readonly from: number
  readonly to: number
}

/** Maximum of remembered gaps: a late event of an older gap counts as a duplicate, and the gap stays. */
export const HOLES_MAX = 256

/**
 * Creates a follower. A server that cannot serve a connection's resume point sends a frame with the number of
 * the last event before the point from which it resumes (decisions: Stream). It may set the count back, after a backup was
 * restored for instance, but only if it is not older than the events seen: a replayed old frame does not.
 */
export function createEventOrder({ last: start, latestMs: newestMs }: EventOrderOptions = {}): EventOrder {
  let last = start
  let latestMs = newestMs ?? -Infinity
  let isFirstOfConnection = true
  let missing = 0
  let holes: readonly Hole[] = []

  function restart({ nodeSeq }: Numbered): Place {
    const skipped = Math.max(0, nodeSeq - (last ?? nodeSeq))
    last = nodeSeq
    holes = holes.filter(({ to }) => to < nodeSeq)
    return { kind: 'resync', skipped }
  }

  function skip(from: number, to: number): Place {
    missing += to - from + 1
    holes = [...holes, { from, to }].slice(-HOLES_MAX)
    return { kind: 'gap', from, to }
  }

  function late(nodeSeq: number): Place {
    const hole = holes.find(({ from, to }) => from <= nodeSeq && nodeSeq <= to)
    if (hole === undefined) return { kind: 'duplicate' }
    const rests = [
      { from: hole.from, to: nodeSeq - 1 },
      { from: nodeSeq + 1, to: hole.to },
    ].filter(({ from, to }) => from <= to)
    holes = holes.flatMap((one) => (one === hole ? rests : [one])).slice(-HOLES_MAX)
    missing -= 1
    return { kind: 'reordered' }
  }

  function ahead({ nodeSeq }: Numbered, before: number | undefined): Place {
    last = nodeSeq
    if (before === undefined) return { kind: 'first' }
    return nodeSeq === before + 1 ? { kind: 'next' } : skip(before + 1, nodeSeq - 1)
  }

  /** A frame of the connection, outside the node's count: it repeats or skips numbers. */
  const beginsAnew = (event: Numbered): boolean =>
    event.isResync &&
    event.nodeSeq !== (last ?? -1) + 1 &&
    (event.nodeSeq >= (last ?? 0) || event.occurredAtMs >= latestMs)

  return {
    connected() {
      isFirstOfConnection = true
    },
    take(event) {
      const isBeginning = isFirstOfConnection && beginsAnew(event)
      isFirstOfConnection = false
      const place = isBeginning
        ? restart(event)
        : last !== undefined && event.nodeSeq <= last
          ? late(event.nodeSeq)
          : ahead(event, last)
      if (place.kind !== 'duplicate') latestMs = Math.max(latestMs, event.occurredAtMs)
      return place
    },
    last: () => last,
    missing: () => missing,
  }
}
