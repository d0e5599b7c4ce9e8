import { createParser, type EventSourceMessage } from 'eventsource-parser'

/** How the console learns of changes: at once, or by asking again and again. */
export type Liveness = 'live' | 'polling'

export interface WatchDeps {
  readonly fetch: typeof fetch
  /** Calls back once after that time; returns a function that cancels it. */
  readonly after: (ms: number, run: () => void) => () => void
  /** Whether the page is behind another one. Such a page does not ask again for each event. */
  readonly isHidden: () => boolean
  /** Calls back when the page is shown again or the network is back; returns a function that ends it. */
  readonly onReturn: (run: () => void) => () => void
}

/** A follower of one Domain. */
export interface Watcher {
  /** An event of the stream. */
  readonly onEvent: (event: EventSourceMessage) => void
  /** What the page shows may be out of date: it is time to ask again. */
  readonly onStale: () => void
  readonly onLiveness: (liveness: Liveness) => void
}

/** Between two questions, without a stream. */
const POLL_MS = 15_000
/** Of a page that is behind another one. */
const HIDDEN_POLL_MS = 120_000
/** With a stream, for what has no events, such as rates. */
const LIVE_POLL_MS = 60_000
/** Before the next try at a stream that broke. */
const RECONNECT_MS = 5_000
/** Before the next try where the server refused the stream, or has none. */
const REFUSED_MS = 300_000

/**
 * Follows what happens in a Domain by its event stream, and asks again at intervals besides, rarer while the stream lives or the page is
 * hidden. Returns a function that ends it.
 */
export function watchDomain(domainId: string, watcher: Watcher, deps: WatchDeps): () => void {
  const ending = new AbortController()
  let isLive = false
  let cancelPoll = (): void => undefined
  const poll = (): void => {
    cancelPoll()
    cancelPoll = deps.after(pauseOf(isLive, deps.isHidden()), () => {
      watcher.onStale()
      poll()
    })
  }
  const becomes = (liveness: Liveness): void => {
    isLive = liveness === 'live'
    watcher.onLiveness(liveness)
    poll()
  }
  const endReturn = deps.onReturn(() => {
    watcher.onStale()
    poll()
  })
  becomes('polling')
  void follow({ domainId, watcher, deps, becomes, signal: ending.signal })
  return () => {
    ending.abort()
    cancelPoll()
    endReturn()
  }
}

function pauseOf(isLive: boolean, isHidden: boolean): number {
  if (isHidden) return HIDDEN_POLL_MS
  return isLive ? LIVE_POLL_MS : POLL_MS
}

interface Following {
  readonly domainId: string
  readonly watcher: Watcher
  readonly deps: WatchDeps
  readonly becomes: (liveness: Liveness) => void
  readonly signal: AbortSignal
}

/** Opens the stream again and again until the signal, from the last event on. */
async function follow(following: Following): Promise<void> {
  const { deps, becomes, signal } = following
  const last = { id: '' }
  while (!signal.aborted) {
    const pauseMs = await readStream(following, last)
    if (signal.aborted) return
    becomes('polling')
    await new Promise<void>((resolve) => {
      const cancel = deps.after(pauseMs, resolve)
      signal.addEventListener('abort', () => (cancel(), resolve()), { once: true })
    })
  }
}

/** Reads the stream to its end; resolves with the pause before the next try, in ms. */
async function readStream(
  { domainId, watcher, deps, becomes, signal }: Following,
  last: { id: string },
): Promise<number> {
  try {
    const path = `/v1/domains/${encodeURIComponent(domainId)}/events/stream`
    const headers = { accept: 'text/event-stream', ...(last.id !== '' && { 'last-event-id': last.id }) }
    const response = await deps.fetch(path, { headers, signal, credentials: 'same-origin' })
    if (!response.ok || response.body === null) return REFUSED_MS
    becomes('live')
    // Such a stream begins with what comes next; what came since the page asked is not in it.
    if (last.id === '') watcher.onStale()
    const parser = createParser({
      onEvent: (event) => {
        last.id = event.id ?? last.id
        watcher.onEvent(event)
        if (!deps.isHidden()) watcher.onStale()
      },
    })
    const text = new TextDecoder()
    const reader = response.body.getReader()
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parser.feed(text.decode(part.value, { stream: true }))
    }
    return RECONNECT_MS
  } catch {
    // The connection broke, or the watching ended.
    return RECONNECT_MS
  }
}
