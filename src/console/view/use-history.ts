import { useRef } from 'preact/hooks'
import type { Api } from '../api/client.ts'
import type { Answered } from '../api/operations.ts'
import type { Changes } from '../model/changes.ts'
import { KEPT_MS, mergedSamples, samplesSince, type Sample } from '../model/samples.ts'
import { APART_MS, tickOf, useLoad, type Loaded } from './use-load.ts'

/** The server takes a sample every five minutes. */
const INTERVAL_MS = 300_000
/** Earlier than any sample: the server begins with the oldest that it has. */
const EVER = '1970-01-01T00:00:00Z'

interface Asking {
  readonly api: Api
  readonly domainId: string
  /** Whether the person may read the history, which is of the whole Domain. */
  readonly mayRead: boolean
  readonly changes: Changes
}

interface Read {
  readonly of: string
  readonly samples: readonly Sample[]
  /** Whether the last try failed. */
  readonly isFailed: boolean
}

/**
 * Reads the samples that the server has of the Domain: all of them once, and at most every five minutes those that came since. After a
 * failure it asks again with everything else that the page shows. A person who may not read them has none.
 */
export function useHistory({ api, domainId, mayRead, changes }: Asking): Loaded<readonly Sample[]> {
  const last = useRef<Read>({ of: '', samples: [], isFailed: false })
  const tick = tickOf(changes, { topics: ['unknown'], decisions: 0 })
  const apartMs = last.current.isFailed ? APART_MS : INTERVAL_MS
  return useLoad({ key: domainId, tick, apartMs }, async (signal) => {
    if (!mayRead) return []
    const former = last.current.of === domainId ? last.current.samples : []
    try {
      const samples = await readSince(former, (since) =>
        api.call('GetDomainReachabilityHistory', { id: domainId, since }, signal),
      )
      last.current = { of: domainId, samples, isFailed: false }
      return samples
    } catch (error) {
      last.current = { of: domainId, samples: former, isFailed: true }
      throw error
    }
  })
}

/** The samples that are known with those that came since. */
async function readSince(
  former: readonly Sample[],
  read: (since: string) => Promise<Answered<'GetDomainReachabilityHistory'>>,
): Promise<readonly Sample[]> {
  const newest = former.at(-1)
  const answer = await read(newest === undefined ? EVER : new Date(newest.atMs).toISOString())
  const samples = answer.samples.map(({ at, ...counts }) => ({ ...counts, atMs: Date.parse(at) }))
  return samplesSince(mergedSamples(former, samples), Date.parse(answer.until) - KEPT_MS)
}
