import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { watchDomain, type Liveness, type Watcher } from '../api/watch-domain.ts'
import { NO_CHANGES, withAll, withChanges, type Changes } from '../model/changes.ts'
import { seenEvent, SEEN_MAX, withEvents, type SeenEvent } from '../model/domain-event.ts'
import type { PresenceWatch } from '../model/presence.ts'
import { routeOf, type Route } from '../model/route.ts'
import { onOnline, watchPresence } from './browser-page.ts'
import { browserTime } from './browser-time.ts'

/** The route of the address, followed. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location.hash))
  useEffect(() => {
    const follow = (): void => setRoute(routeOf(location.hash))
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return route
}

/** The time, about as exact as a relative time is shown. */
export function useNow(changes: Changes): number {
  const [nowMs, setNow] = useState(Date.now)
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 10_000)
    return () => clearInterval(timer)
  }, [changes])
  return nowMs
}

/** Events that come together change the page once. */
const GATHER_MS = 1_000

/** What the page knows of what happens in its Domain. */
export interface Live {
  readonly changes: Changes
  /** Of the stream, since the page follows this Domain; at most 200. */
  readonly events: readonly SeenEvent[]
}

interface Followed extends Live {
  readonly liveness: Liveness
  readonly presence: PresenceWatch
}

interface Followable {
  readonly domainId: string
  /** Whether the person may read the Domain, and so its stream. */
  readonly mayReadDomain: boolean
  /** The node whose page is open. */
  readonly nodeId: string | undefined
}

/** Follows a Domain: the changes grow when something may have changed in it. */
export function useLive({ domainId, mayReadDomain, nodeId }: Followable): Followed {
  const presence = useMemo(watchPresence, [])
  const [live, setLive] = useState<Live>({ changes: NO_CHANGES, events: [] })
  const [liveness, setLiveness] = useState<Liveness>('polling')
  const shown = useRef(nodeId)
  shown.current = nodeId
  useEffect(() => {
    setLive(({ changes }) => ({ changes, events: [] }))
    const gathered = createGathering((part) =>
      setLive((former) => withPart(former, part, { nodeId: shown.current, isShown: presence.now() === 'shown' })),
    )
    const onEvent: Watcher['onEvent'] = ({ id, data }) => {
      const event = seenEvent(id, data)
      if (event !== undefined) gathered.add([event])
    }
    const watcher = { onEvent, onStale: () => gathered.add('all'), onLiveness: setLiveness }
    const stop = watchDomain(domainId, watcher, {
      fetch: plainFetch,
      after: browserTime.after,
      presence,
      onOnline,
      isStreamed: mayReadDomain,
    })
    return () => {
      stop()
      gathered.end()
    }
  }, [domainId, mayReadDomain])
  return { ...live, liveness, presence }
}

const plainFetch = (...request: Parameters<typeof fetch>): Promise<Response> => fetch(...request)

/** What came within a second. */
interface Part {
  readonly events: readonly SeenEvent[]
  readonly isAll: boolean
}

/** A page that is not shown has its events only: it reads again when it is shown. */
function withPart(
  { changes, events }: Live,
  part: Part,
  { nodeId, isShown }: { readonly nodeId: string | undefined; readonly isShown: boolean },
): Live {
  const all = withEvents(events, part.events)
  if (!isShown) return { changes, events: all }
  return { changes: part.isAll ? withAll(changes) : withChanges(changes, part.events, nodeId), events: all }
}

interface Gathering {
  add(what: readonly SeenEvent[] | 'all'): void
  end(): void
}

/** Hands over what came within a second, together. */
function createGathering(onPart: (part: Part) => void): Gathering {
  let events: readonly SeenEvent[] = []
  let isAll = false
  let cancel: (() => void) | undefined
  const flush = (): void => {
    cancel = undefined
    const part = { events, isAll }
    events = []
    isAll = false
    onPart(part)
  }
  return {
    add(what) {
      if (what === 'all') isAll = true
      else events = [...events, ...what].slice(-SEEN_MAX)
      cancel ??= browserTime.after(GATHER_MS, flush)
    },
    end: () => cancel?.(),
  }
}
