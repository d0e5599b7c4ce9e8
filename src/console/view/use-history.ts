import { useRef } from 'preact/hooks'
import type { Api } from '../api/client.ts'
import type { Changes } from '../model/changes.ts'
import { KEPT_MS, mergedSamples, samplesSince, type Sample } from '../model/samples.ts'
import { tickOf, useLoad, type Loaded } from './use-load.ts'

/** The server takes a sample every five minutes. */
const APART_MS = 300_000
/** Earlier than any sample: the server begins with the oldest that it has. */
const EVER = '1970-01-01T00:00:00Z'

interface Asking {
  readonly api: Api
  readonly domainId: string
  readonly changes: Changes
}

/** Reads the samples that the server has of the Domain: all of them once, and at most every five minutes those that came since. */
export function useHistory({ api, domainId, changes }: Asking): Loaded<readonly Sample[]> {
  const last = useRef<{ readonly of: string; readonly samples: readonly Sample[] } | undefined>(undefined)
  const tick = tickOf(changes, { topics: ['unknown'], decisions: 0 })
  return useLoad({ key: domainId, tick, apartMs: APART_MS }, async (signal) => {
    const former = last.current?.of === domainId ? last.current.samples : []
    const newest = former.at(-1)
    const since = newest === undefined ? EVER : new Date(newest.atMs).toISOString()
    const answer = await api.call('GetDomainReachabilityHistory', { id: domainId, since }, signal)
    const read = answer.samples.map(({ at, ...counts }) => ({ ...counts, atMs: Date.parse(at) }))
    const samples = samplesSince(mergedSamples(former, read), Date.parse(answer.until) - KEPT_MS)
    last.current = { of: domainId, samples }
    return samples
  })
}
