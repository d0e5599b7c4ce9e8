import { isDeepStrictEqual } from 'node:util'
import type { Db } from '../../ports/datastore.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { formatEndpoint } from '../../sql/endpoint-text.ts'
import { announceEndpoints } from './announce-endpoints.ts'
import { storeEndpoints, type OwnReport, type StoredEndpoint } from './endpoint-store.ts'
import { ageObservationsOf, readFreshObservations, type Observed } from './observation-store.ts'
import { choosePeerEndpoint, isSameAddress, type PeerEndpoint } from './peer-endpoint.ts'

/** A node about which something was reported. */
export interface Unsettled {
  readonly nodeId: string
  readonly domainId: string
  /** Its own report, as it is to be stored; the known one unless it has just reported. */
  readonly own: OwnReport | undefined
  /** As stored, with the row locked. */
  readonly known: StoredEndpoint | undefined
}

/** What peers get of a node from now on. */
export interface Settled {
  readonly nodeId: string
  readonly domainId: string
  readonly shown: PeerEndpoint
  readonly candidates: readonly string[]
  /** Whether peers got something else before. */
  readonly isNews: boolean
}

/**
 * Decides what peers get of the nodes, whose rows the caller has locked, and stores it with their own reports. A node about
 * which nothing is fresh, and that did not just report, is left as it is and is not in the result. What peers have seen of a node
 * before it reports another address than its last one yields to what one of them sees where the node is now.
 */
export async function settleEndpoints(db: Db, nodes: readonly Unsettled[], nowMs: number): Promise<readonly Settled[]> {
  if (nodes.length === 0) return []
  const moved = nodes.filter(hasMoved).map(({ nodeId }) => nodeId)
  if (moved.length > 0) await ageObservationsOf(db, moved)
  const fresh = await readFreshObservations(
    db,
    nodes.map(({ nodeId }) => nodeId),
    nowMs,
  )
  const settled = nodes.flatMap((node) => {
    const shown = shownOf(node, fresh.get(node.nodeId), nowMs)
    return shown === undefined ? [] : [{ ...node, shown, candidates: candidatesOf(node), isNews: isNews(node, shown) }]
  })
  if (settled.length > 0) await storeEndpoints(db, settled)
  return settled
}

/** Announces what changed to the peers, those of each Domain together. */
export async function announceSettled(change: Change, settled: readonly Settled[]): Promise<void> {
  const news = settled.filter(({ isNews: isNew }) => isNew)
  for (const domainId of new Set(news.map((each) => each.domainId))) {
    const ofDomain = news.filter((each) => each.domainId === domainId)
    const changes = ofDomain.map(({ nodeId, shown, candidates }) => {
      return { nodeId, endpoint: formatEndpoint(shown.host, shown.port), candidates }
    })
    await announceEndpoints(change, domainId, changes)
  }
}

function shownOf(node: Unsettled, observed: Observed | undefined, nowMs: number): PeerEndpoint | undefined {
  const { ttlMs, observations } = observed ?? { ttlMs: 0, observations: [] }
  const isFresh = isJustReported(node) || (node.own?.reportedAtMs ?? 0) >= nowMs - ttlMs
  return choosePeerEndpoint({ own: isFresh ? node.own : undefined, observed: observations })
}

/** Most peers of a node that has moved cannot see it until they know where it is, and would confirm the old address. */
function hasMoved({ own, known }: Unsettled): boolean {
  return own !== undefined && known?.own !== undefined && !isSameAddress(own, known.own)
}

/** It was fresh when it was admitted. If the TTL has become shorter since, the sweeper finds it. */
function isJustReported({ own, known }: Unsettled): boolean {
  return own !== known?.own
}

function isNews({ known, own }: Unsettled, shown: PeerEndpoint): boolean {
  if (known === undefined || known.isStale || !isSameAddress(known.shown, shown)) return true
  return !isDeepStrictEqual(candidatesOf(known), candidatesOf({ own }))
}

/** They are as fresh as the endpoint beside them. */
function candidatesOf({ own }: { readonly own: OwnReport | undefined }): readonly string[] {
  return own?.candidates ?? []
}
