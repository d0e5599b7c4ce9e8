import type { Clock } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import type { OutgoingFetch } from '../../ports/outgoing-fetch.ts'
import { visit, type OnRefreshFailure } from './bundle-endpoint.ts'
import * as store from './store.ts'

const EVERY_MS = 5000
/** Endpoints fetched concurrently in one pass, which their deadline bounds. */
const AT_ONCE = 8

export interface BundleRefresherDeps {
  readonly datastore: Datastore
  readonly clock: Clock
  readonly outgoingFetch: OutgoingFetch
  readonly onFailure: OnRefreshFailure
}

/** The job that refreshes bundles from their endpoints when they are due, so that new keys verify at once and withdrawn ones no longer. */
export function createBundleRefresher({
  datastore,
  clock,
  outgoingFetch: fetch,
  onFailure,
}: BundleRefresherDeps): LeaderJob {
  return {
    name: 'trust-bundles',
    everyMs: EVERY_MS,
    async run(leading) {
      const { signal } = leading
      const nowMs = clock.now()
      const due = await store.listDueBundles(datastore.pool('worker'), { now: new Date(nowMs), count: AT_ONCE })
      const visited = await Promise.all(
        due.filter(hasEndpoint).map(async (bundle) => ({
          bundle,
          refreshed: await visit(bundle, { fetch, nowMs, signal, onFailure }),
        })),
      )
      if (signal.aborted || visited.length === 0) return false
      await leading.transaction(async (db) => {
        for (const { bundle, refreshed } of visited) await store.writeRefreshed(db, bundle, refreshed)
      })
      return due.length === AT_ONCE
    },
  }
}

type WithEndpoint = store.TrustBundleRecord & { readonly bundle_url: string }

const hasEndpoint = (bundle: store.TrustBundleRecord): bundle is WithEndpoint => bundle.bundle_url !== null
