import type { Device } from '../device/device.ts'
import type { Log } from '../log.ts'
import type { MeshApplier } from '../tunnel/mesh-applier.ts'
import type { DirectSearch } from './candidates.ts'
import type { LostPeers, ReachablePeer } from './lost-peers.ts'
import type { ObservedReports } from './observed-reports.ts'
import type { PathClock } from './path-clock.ts'
import type { PathReports } from './path-reports.ts'
import type { Paths } from './paths.ts'
import type { RelayAddresses } from './relay-addresses.ts'
import { seenEndpoints } from './seen-endpoints.ts'

/** What the watch needs. */
export interface PeerWatchDeps extends PathClock {
  readonly device: Pick<Device, 'status' | 'move' | 'wake'>
  readonly applier: Pick<MeshApplier, 'present' | 'replaceEndpoints'>
  readonly paths: Paths
  readonly relays: RelayAddresses
  readonly pathReports: PathReports
  readonly lostPeers: LostPeers
  readonly search: DirectSearch
  readonly reports: ObservedReports
  /** Applies the mesh before long. */
  readonly applySoon: () => void
  readonly log: Log
}

const LOOK_MS = 2_000
/** Each look at which nothing has changed doubles the pause up to this. With what follows, a peer that moves is found elsewhere within 10 s. */
const CALM_LOOK_MS = 3_000
const SOON_MS = 1_000
/** Reading a device with many peers takes at most this part of the time, beyond what a slow machine needs for a few. */
const READING_SHARE = 0.005
const QUICK_READING_MS = 50
/** Of so many readings the quickest counts: others were slow by chance. */
const READINGS = 3
/** A path that is to be found, or tried, does not wait longer. */
const PATHS_PAUSE_MS_MAX = 2_000

/** The look at the peers of the device. It comes more often while something changes. */
export interface PeerWatch {
  /** Reports where peers are seen, gives lost ones the endpoint of the server, and seeks those that are silent. */
  look(): Promise<void>
  /** Pause before the next look. */
  pauseMs(): number
}

/** Makes it. */
export function createPeerWatch(deps: PeerWatchDeps): PeerWatch {
  const { device, applier, lostPeers, search, reports, applySoon, now, steady, log, paths, relays, pathReports } = deps
  let pauseMs = LOOK_MS
  let calmMs = LOOK_MS
  let before = ''
  let readings: readonly number[] = Array.from({ length: READINGS }, () => 0)

  async function choosePaths(present: ReturnType<MeshApplier['present']>): Promise<void> {
    const { moves, wakes, choices } = paths.look(present)
    for (const { nodeId, endpoint } of choices)
      log.line(`path: ${nodeId} is reached ${relays.has(endpoint) ? 'through the relay' : 'directly'} at ${endpoint}`)
    if (moves.length > 0) await device.move(moves)
    if (wakes.length > 0) await device.wake(wakes)
    pathReports.take(present.map(({ nodeId, status }) => ({ nodeId, ...paths.wayOf(nodeId, status) })))
  }

  /** Returns whether any was replaced. */
  function replaceEndpoints(present: readonly ReachablePeer[]): boolean {
    const lost = new Set(lostPeers.look(present))
    const sought = search.look(present)
    const moves = present.flatMap(({ nodeId, given, status: { latestHandshakeMs } }) => {
      const endpoint = sought.get(nodeId) ?? (lost.has(nodeId) ? given : undefined)
      return endpoint === undefined ? [] : [[nodeId, { endpoint, latestHandshakeMs }] as const]
    })
    if (moves.length === 0) return false
    applier.replaceEndpoints(new Map(moves))
    applySoon()
    return true
  }

  return {
    async look() {
      pauseMs = LOOK_MS
      const startedMs = steady()
      const { peers } = await device.status()
      readings = [...readings.slice(1), steady() - startedMs]
      const present = applier.present(peers)
      await choosePaths(present)
      const hasMoved = replaceEndpoints(present.filter(({ nodeId }) => !paths.isChosen(nodeId)))
      const placed = present.map((peer) => ({ ...peer, placed: paths.placedOf(peer.nodeId) ?? peer.placed }))
      const seen = seenEndpoints(placed, { nowMs: now(), isRelay: (text) => relays.has(text) })
      const isWaiting = reports.take(seen) || search.isActive()
      const places = seen.map(({ peerId, endpoint }) => `${peerId} ${endpoint}`).join()
      calmMs = places === before && !hasMoved ? Math.min(2 * calmMs, CALM_LOOK_MS) : LOOK_MS
      before = places
      pauseMs = pauseAfter(Math.min(...readings), { wantedMs: isWaiting ? SOON_MS : calmMs, pathsMs: paths.pauseMs() })
    },
    pauseMs: () => pauseMs,
  }
}

interface Pauses {
  /** Without them. */
  readonly wantedMs: number
  /** What the paths want; undefined where there are none to choose. */
  readonly pathsMs: number | undefined
}

function pauseAfter(readingMs: number, { wantedMs, pathsMs }: Pauses): number {
  const sparing = Math.max(0, readingMs - QUICK_READING_MS) / READING_SHARE
  if (pathsMs === undefined) return Math.max(wantedMs, sparing)
  const soonestMs = Math.min(pathsMs, wantedMs)
  return Math.max(soonestMs, Math.min(sparing, soonestMs * 2, PATHS_PAUSE_MS_MAX))
}
