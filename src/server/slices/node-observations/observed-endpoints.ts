import type { nodeObservations } from '../../../shared/contract/node-observations.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import { seeEachOther } from '../../policies/visible-ids.ts'
import type { Worlds } from '../../policies/worlds.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { formatEndpoint } from '../../sql/endpoint-text.ts'
import { readHops } from '../../sql/relay-hops.ts'
import { holdPeers } from '../../sql/state-revisions.ts'
import { parseEndpoint } from './endpoint-address.ts'
import { lockEndpoints, lockNodes } from './endpoint-store.ts'
import { untimeliness } from './observation-age.ts'
import * as store from './observation-store.ts'
import { announceSettled, settleEndpoints } from './settle-endpoints.ts'

export interface ObservedEndpointsDeps {
  readonly datastore: Datastore
  readonly worlds: Worlds
}

/**
 * Serves the reports of where nodes see their peers. Those that repeat what is known change no other row than their own; the
 * others may change what peers get, in one transaction with its events.
 */
export function createObservedEndpoints({
  datastore,
  worlds,
}: ObservedEndpointsDeps): Pick<Handlers<typeof nodeObservations>, 'PutNodeObservedEndpoints'> {
  const db = datastore.pool('interactive')

  return {
    async PutNodeObservedEndpoints(ctx, { id, body }) {
      const { nowMs, caller } = ctx
      const observer = await store.findObserver(db, id)
      if (observer === undefined) throw problem('unauthorized')
      const observedAtMs = Date.parse(body.reported_at)
      const untimely = untimeliness(observedAtMs, { nowMs, ttlMs: observer.ttlMs })
      if (untimely !== undefined) {
        ctx.refusedFor(untimely)
        throw problem('endpoint_clock_skew')
      }
      const sent = body.observed.map(toSeen)
      const report = { observerId: id, domainId: caller.domainId, observedAtMs, nowMs, ttlMs: observer.ttlMs }
      const taken = await take(ctx, report, await visibleOf(report, observer, sent))
      return { accepted_at: new Date(nowMs).toISOString(), taken, ignored: sent.length - taken }
    },
  }

  /** Resolves to the number of observations that are stored now. */
  async function take(ctx: RequestContext, report: store.ObservedReport, seen: readonly store.Seen[]): Promise<number> {
    const renewed = await store.renewObservations(db, report, seen)
    const rest = seen.filter(({ nodeId }) => !renewed.has(nodeId))
    const { held, open } = await sortOut(report, rest)
    const stored = open.length === 0 ? 0 : await ctx.change((change) => record(change, report, open))
    return renewed.size + held + stored
  }

  async function visibleOf(
    { observerId, domainId }: store.ObservedReport,
    { isFiltered, peerRevision }: store.Observer,
    seen: readonly store.Seen[],
  ): Promise<readonly store.Seen[]> {
    if (!isFiltered) return seen
    const visibility = await worlds.at(domainId, peerRevision)
    return seen.filter(({ nodeId }) => seeEachOther(visibility, observerId, nodeId))
  }

  /** How many of the observations are known already, and which may be stored. */
  async function sortOut(
    report: store.ObservedReport,
    seen: readonly store.Seen[],
  ): Promise<{ readonly held: number; readonly open: readonly store.Seen[] }> {
    if (seen.length === 0) return { held: 0, open: [] }
    const nodeIds = seen.map(({ nodeId }) => nodeId)
    const targets = await store.readTargets(db, report, nodeIds)
    const open = new Set(targets.filter(({ isHeld, isFull }) => !isHeld && !isFull).map(({ nodeId }) => nodeId))
    const held = targets.filter(({ isHeld }) => isHeld).length
    if (open.size === 0) return { held, open: [] }
    const relays = await relayAddresses(report.domainId)
    return {
      held,
      open: seen.filter(({ nodeId, host, port }) => open.has(nodeId) && !relays.has(formatEndpoint(host, port))),
    }
  }

  /** Where relays of the Domain are reached: what comes from there is no address of the peer. */
  async function relayAddresses(domainId: string): Promise<ReadonlySet<string>> {
    const hops = await readHops(db, domainId)
    return new Set(hops.map(({ host, port }) => formatEndpoint(host, port)))
  }
}

/** @throws Problem `endpoint_unparseable`. */
function toSeen({
  peer_node_id: nodeId,
  endpoint,
}: {
  readonly peer_node_id: string
  readonly endpoint: string
}): store.Seen {
  const address = parseEndpoint(endpoint)
  if (address === undefined) throw problem('endpoint_unparseable')
  return { nodeId, ...address }
}

/** Stores observations and what follows from them. Resolves to their number. */
async function record(change: Change, report: store.ObservedReport, seen: readonly store.Seen[]): Promise<number> {
  const { db } = change
  const { observerId, domainId, nowMs } = report
  await holdPeers(db, domainId)
  const nodeIds = seen.map(({ nodeId }) => nodeId)
  const there = await lockNodes(db, [observerId, ...nodeIds])
  if (!there.has(observerId)) throw problem('unauthorized')
  const known = await lockEndpoints(db, nodeIds)
  const living = seen.filter(({ nodeId }) => there.has(nodeId))
  const stored = await store.storeObservations(db, report, living)
  const nodes = [...stored].toSorted().map((nodeId) => {
    const endpoint = known.get(nodeId)
    return { nodeId, domainId, own: endpoint?.own, known: endpoint }
  })
  await announceSettled(change, await settleEndpoints(db, nodes, nowMs))
  return stored.size
}
