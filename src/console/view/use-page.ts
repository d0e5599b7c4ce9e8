import { useEffect, useRef, useState } from 'preact/hooks'
import { watchDomain, type Liveness, type Watcher } from '../api/watch-domain.ts'
import { seenEvent, withEvent, type SeenEvent } from '../model/domain-event.ts'
import { routeOf, type Route } from '../model/route.ts'
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
export function useNow(tick: number): number {
  const [nowMs, setNow] = useState(Date.now)
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 10_000)
    return () => clearInterval(timer)
  }, [tick])
  return nowMs
}

/** Changes that come together are asked about together. */
const GATHER_MS = 1_000

interface Live {
  readonly tick: number
  readonly liveness: Liveness
  /** Of the stream, since the page follows this Domain; at most 200. */
  readonly events: readonly SeenEvent[]
  readonly refresh: () => void
}

/** Follows a Domain: the tick grows when something may have changed in it. */
export function useLive(domainId: string): Live {
  const [tick, setTick] = useState(0)
  const [liveness, setLiveness] = useState<Liveness>('polling')
  const [events, setEvents] = useState<readonly SeenEvent[]>([])
  const gathering = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const refresh = (): void => setTick((count) => count + 1)
  useEffect(() => {
    setEvents([])
    const onEvent: Watcher['onEvent'] = ({ id, data }) => {
      const event = seenEvent(id, data)
      if (event !== undefined) setEvents((former) => withEvent(former, event))
    }
    const onStale = (): void => {
      gathering.current ??= setTimeout(() => {
        gathering.current = undefined
        refresh()
      }, GATHER_MS)
    }
    const stop = watchDomain(domainId, { onEvent, onStale, onLiveness: setLiveness }, browser)
    return () => {
      stop()
      clearTimeout(gathering.current)
      gathering.current = undefined
    }
  }, [domainId])
  return { tick, liveness, events, refresh }
}

/** The browser, as the watcher needs it. */
const browser = {
  fetch: (...request: Parameters<typeof fetch>) => fetch(...request),
  ...browserTime,
  isHidden: () => document.visibilityState === 'hidden',
  onReturn(run: () => void) {
    const onVisible = (): void => {
      if (document.visibilityState === 'visible') run()
    }
    document.addEventListener('visibilitychange', onVisible)
    addEventListener('online', run)
    return () => {
      document.removeEventListener('visibilitychange', onVisible)
      removeEventListener('online', run)
    }
  },
}
