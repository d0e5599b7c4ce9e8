import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { PresenceWatch } from '../model/presence.ts'

/** How the console learns of changes: at once, or by reading again and again; or not at all, while nobody uses the page. */
export type Liveness = 'live' | 'polling' | 'paused'

export interface WatchDeps {
  readonly fetch: typeof fetch
  /** Calls back once after that time; returns a function that cancels it. */
  readonly after: (ms: number, run: () => void) => () => void
  readonly presence: PresenceWatch
  /** Calls back when the network is back; returns a function that ends it. */
  readonly onOnline: (run: () => void) => () => void
  /** Whether the person may read the stream. A try by others is a denial in the audit. */
  readonly isStreamed: boolean
}

/** A follower of one Domain. */
export interface Watcher {
  /** An event of the stream. */
  readonly onEvent: (event: EventSourceMessage) => void
  /** Anything that the page shows may be out of date. */
  readonly onStale: () => void
  readonly onLiveness: (liveness: Liveness) => void
}

/** Between two reads, without a stream. */
const POLL_MS = 15_000
/** With a stream, for what has no events, such as rates. */
const LIVE_POLL_MS = 60_000
/** Before the next try at a stream that broke. */
const RECONNECT_MS = 5_000
/** Before the next try where the server refused the stream, or has none. */
const REFUSED_MS = 300_000

/**
 * Follows what happens in a Domain by its event stream, and has everything read again at intervals besides, rarer while the stream lives.
 * Nothing is read while the page is hidden, and it has no stream while people are away. Returns a function that ends it.
 */
export function watchDomain(domainId: string, watcher: Watcher, deps: WatchDeps): () => void {
  const ending = new AbortController()
  const { presence } = deps
  let current: Liveness | undefined
  let cancelPoll = (): void => undefined
  const poll = (): void => {
    cancelPoll()
    if (presence.now() !== 'shown') return
    cancelPoll = deps.after(current === 'live' ? LIVE_POLL_MS : POLL_MS, () => {
      watcher.onStale()
      poll()
    })
  }
  const becomes = (liveness: Liveness): void => {
    // Each failed try at a stream comes here, more often than a read is due: it must not put that off.
    if (liveness === current) return
    current = liveness
    watcher.onLiveness(liveness)
    poll()
  }
  const readAgain = (): void => {
    if (presence.now() === 'shown') watcher.onStale()
    poll()
  }
  const endPresence = presence.onChange(readAgain)
  const endOnline = deps.onOnline(readAgain)
  becomes('polling')
  if (deps.isStreamed) void follow({ domainId, watcher, deps, becomes, signal: ending.signal })
  return () => {
    ending.abort()
    cancelPoll()
    endPresence()
    endOnline()
  }
}

interface Following {
  readonly domainId: string
  readonly watcher: Watcher
  readonly deps: WatchDeps
  readonly becomes: (liveness: Liveness) => void
  readonly signal: AbortSignal
}

/** Opens the stream again and again until the signal, from the last event on; not while people are away. */
async function follow(following: Following): Promise<void> {
  const { deps, becomes, signal } = following
  const last = { id: '' }
  while (!signal.aborted) {
    if (deps.presence.now() === 'away') await untilBack(following)
    if (signal.aborted) return
    const pauseMs = await whilePresent(following, last)
    if (signal.aborted) return
    const isAway = deps.presence.now() === 'away'
    becomes(isAway ? 'paused' : 'polling')
    if (!isAway) await pause(following, pauseMs)
  }
}

function untilBack({ deps: { presence }, signal }: Following): Promise<void> {
  return new Promise((resolve) => {
    const end = presence.onChange(() => {
      if (presence.now() !== 'away') done()
    })
    function done(): void {
      end()
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
  })
}

function pause({ deps, signal }: Following, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = deps.after(ms, resolve)
    signal.addEventListener('abort', () => (cancel(), resolve()), { once: true })
  })
}

/** Reads the stream until it ends or people are away. */
async function whilePresent(following: Following, last: { id: string }): Promise<number> {
  const { presence } = following.deps
  const away = new AbortController()
  const end = presence.onChange(() => {
    if (presence.now() === 'away') away.abort()
  })
  const pauseMs = await readStream({ ...following, signal: AbortSignal.any([following.signal, away.signal]) }, last)
  end()
  return pauseMs
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
    // Such a stream begins with what comes next; what came since the page read is not in it.
    if (last.id === '' && deps.presence.now() === 'shown') watcher.onStale()
    const parser = createParser({
      onEvent: (event) => {
        last.id = event.id ?? last.id
        watcher.onEvent(event)
      },
    })
    const text = new TextDecoder()
    const reader = response.body.getReader()
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parser.feed(text.decode(part.value, { stream: true }))
    }
    return RECONNECT_MS
  } catch {
    // The connection broke, people are away, or the watching ended.
    return RECONNECT_MS
  }
}
