import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Api } from '../api/client.ts'
import { readFleet, type FleetRead } from '../api/read-fleet.ts'
import { countStates } from '../model/fleet.ts'
import { mergedSamples, readSamples, withSample, type Sample } from '../model/samples.ts'
import type { FleetData } from './context.ts'
import { useHistory } from './use-history.ts'
import { APART_MS, tickOf, useLoad } from './use-load.ts'
import type { Live } from './use-page.ts'

/** Between two samples while the stream keeps the nodes current without being asked for. */
const SAMPLE_MS = 15_000

const PAUSES_MAX = 6

interface Following {
  readonly api: Api
  readonly domainId: string
  readonly mayReadDomain: boolean
  readonly live: Live
  readonly decisions: number
  /** Whether the nodes that the page has are those of now. */
  readonly isCurrent: () => boolean
}

/**
 * Reads the nodes of the Domain when something changes in them, and samples how many are in each state. The samples of the server are
 * those of times in which the page was not shown.
 */
export function useFleet({ api, domainId, mayReadDomain, live, decisions, isCurrent }: Following): FleetData {
  const { changes, events } = live
  const last = useRef<{ readonly of: string; readonly read: FleetRead } | undefined>(undefined)
  const former = last.current?.of === domainId ? last.current.read : undefined
  const tick = tickOf(changes, { topics: ['nodes'], decisions })
  // Each request of a read has its pause, up to half a minute: what is shown must not be older than that.
  const apartMs = Math.min(former?.requests ?? 1, PAUSES_MAX) * APART_MS
  const { value, failure, retry } = useLoad({ key: domainId, tick, apartMs }, async (signal) => {
    const read = await readFleet(api, { domainId, former, events, resyncs: changes.unknown }, signal)
    last.current = { of: domainId, read }
    return read.nodes
  })
  const [seen, setSeen] = useState<{ readonly of: string; readonly all: readonly Sample[] }>({ of: '', all: [] })
  const history = useHistory({ api, domainId, mayRead: mayReadDomain, changes })
  const sampling = useSampling(isCurrent)
  useEffect(() => {
    if (value === undefined) return
    const sample = { atMs: Date.now(), ...countStates(value) }
    const all = withSample(readSamples(keptText(domainId)), sample)
    keep(domainId, all)
    setSeen({ of: domainId, all })
  }, [value, sampling])
  const samples = useMemo(
    () => mergedSamples(history.value ?? [], seen.of === domainId ? seen.all : []),
    [domainId, history.value, seen],
  )
  return { nodes: { value, failure, retry }, samples, history }
}

/** Grows when it is time for a sample of what is known. */
function useSampling(isCurrent: () => boolean): number {
  const [count, setCount] = useState(0)
  const latest = useRef(isCurrent)
  latest.current = isCurrent
  useEffect(() => {
    const timer = setInterval(() => {
      if (latest.current()) setCount((former) => former + 1)
    }, SAMPLE_MS)
    return () => clearInterval(timer)
  }, [])
  return count
}

const keyOf = (domainId: string): string => `ctl.console.samples.${domainId}`

/** Samples outlive a reload of the page, in browsers that keep anything. */
function keptText(domainId: string): string | null {
  try {
    return sessionStorage.getItem(keyOf(domainId))
  } catch {
    return null
  }
}

function keep(domainId: string, samples: readonly Sample[]): void {
  try {
    sessionStorage.setItem(keyOf(domainId), JSON.stringify(samples))
  } catch {
    // The chart begins again with the next load.
  }
}
