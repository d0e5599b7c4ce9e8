import type { OutgoingFetch } from '../../ports/outgoing-fetch.ts'
import type { Refreshed, TrustBundleRecord } from './store.ts'
import { readTrustBundle, type TrustBundle } from './trust-bundle.ts'

/** Pause before the retry after a failure. */
const RETRY_MS = 60_000
/** Maximum size of a fetched bundle: that of `PUT`. */
const BUNDLE_BYTES_MAX = 256 * 1024

/** The endpoint of a bundle. */
export interface BundleEndpoint {
  readonly url: string
  readonly allowPrivateNetwork: boolean
}

/** Fetches the bundle from the endpoint. @throws Error in one sentence; the keys in use stay. */
export async function fetchTrustBundle(
  fetch: OutgoingFetch,
  { url, allowPrivateNetwork }: BundleEndpoint,
  signal?: AbortSignal,
): Promise<TrustBundle> {
  const headers = { accept: 'application/json' }
  const { status, body } = await fetch(url, { headers, allowPrivateNetwork, bodyBytesMax: BUNDLE_BYTES_MAX, signal })
  if (status !== 200) throw new Error(`the bundle endpoint answered ${status}`)
  return readTrustBundle(JSON.parse(body.toString('utf8')))
}

/** The row after a successful fetch. */
export function refreshedBy({ keys, refreshSeconds }: TrustBundle, nowMs: number): Refreshed {
  return {
    jwks: { keys: [...keys] },
    refresh_due_at: new Date(nowMs + refreshSeconds * 1000),
    refreshed_at: new Date(nowMs),
    refresh_failed_since: null,
  }
}

/** The row after a failed fetch: the keys stay, and the row records since when they have not been confirmed. */
export function unrefreshed(
  { jwks, refreshed_at, refresh_failed_since: since }: Omit<Refreshed, 'refresh_due_at'>,
  nowMs: number,
): Refreshed {
  return {
    jwks,
    refreshed_at,
    refresh_due_at: new Date(nowMs + RETRY_MS),
    refresh_failed_since: since ?? new Date(nowMs),
  }
}

/** Visits the endpoint of a stored bundle. `onFailure` is called with the reason why the keys stay as they are. */
export async function visit(
  bundle: TrustBundleRecord & { readonly bundle_url: string },
  { fetch, nowMs, signal, onFailure }: Visiting,
): Promise<Refreshed> {
  const endpoint = { url: bundle.bundle_url, allowPrivateNetwork: bundle.allow_private_network }
  try {
    return refreshedBy(await fetchTrustBundle(fetch, endpoint, signal), nowMs)
  } catch (error) {
    onFailure(error, bundle)
    return unrefreshed(bundle, nowMs)
  }
}

export type OnRefreshFailure = (error: unknown, bundle: Pick<TrustBundleRecord, 'domain_id' | 'trust_domain'>) => void

export interface Visiting {
  readonly fetch: OutgoingFetch
  readonly nowMs: number
  readonly signal?: AbortSignal | undefined
  readonly onFailure: OnRefreshFailure
}
