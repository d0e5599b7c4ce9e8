import { useEffect, useState } from 'preact/hooks'
import type { Api } from '../api/client.ts'
import { readNodes } from '../api/read-fleet.ts'
import { countStates } from '../model/fleet.ts'
import { readSamples, withSample, type Sample } from '../model/samples.ts'
import type { FleetData } from './context.ts'
import { useLoad } from './use-load.ts'

/** A page of nodes is asked for at most once in so many ms, however often something changes. */
const APART_MS_PER_PAGE = 3_000
const PAGE = 200
/** Between two samples while the stream keeps the nodes current without being asked for. */
const SAMPLE_MS = 15_000

interface Following {
  readonly api: Api
  readonly domainId: string
  readonly tick: number
  /** Whether the nodes that the page has are those of now. */
  readonly isLive: boolean
}

/** Reads the nodes of the Domain with each tick, and samples how many are in each state. */
export function useFleet({ api, domainId, tick, isLive }: Following): FleetData {
  const [pages, setPages] = useState(0)
  const nodes = useLoad({ key: domainId, tick, apartMs: Math.max(0, pages - 1) * APART_MS_PER_PAGE }, (signal) =>
    readNodes(api, domainId, signal),
  )
  const [samples, setSamples] = useState<{ readonly of: string; readonly all: readonly Sample[] }>({ of: '', all: [] })
  const sampling = useSampling(isLive)
  useEffect(() => {
    const { value } = nodes
    if (value === undefined) return
    setPages(Math.ceil(value.length / PAGE))
    const sample = { atMs: Date.now(), ...countStates(value) }
    const all = withSample(readSamples(keptText(domainId)), sample)
    keep(domainId, all)
    setSamples({ of: domainId, all })
  }, [nodes.value, sampling])
  return { nodes, samples: samples.of === domainId ? samples.all : [] }
}

/** Grows when it is time for a sample of what is known. */
function useSampling(isLive: boolean): number {
  const [count, setCount] = useState(0)
  useEffect(() => {
    if (!isLive) return undefined
    const timer = setInterval(() => setCount((former) => former + 1), SAMPLE_MS)
    return () => clearInterval(timer)
  }, [isLive])
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
