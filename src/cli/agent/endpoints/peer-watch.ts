import type { Device } from '../device/device.ts'
import type { MeshApplier } from '../tunnel/mesh-applier.ts'
import type { DirectSearch } from './candidates.ts'
import type { LostPeers, ReachablePeer } from './lost-peers.ts'
import type { ObservedReports } from './observed-reports.ts'
import { seenEndpoints } from './seen-endpoints.ts'

/** What the watch needs. */
export interface PeerWatchDeps {
  readonly device: Pick<Device, 'status'>
  readonly applier: Pick<MeshApplier, 'present' | 'replaceEndpoints'>
  readonly lostPeers: LostPeers
  readonly search: DirectSearch
  readonly reports: ObservedReports
  /** Applies the mesh before long. */
  readonly applySoon: () => void
  readonly now: () => number
}

const LOOK_MS = 2_000
const SOON_MS = 1_000
/** Reading a device with many peers takes at most this part of the time. */
const READING_SHARE = 0.005

/** The look at the peers of the device. */
export interface PeerWatch {
  /** Reports where peers are seen, gives lost ones the endpoint of the server, and seeks those that are silent. */
  look(): Promise<void>
  /** Pause before the next look. */
  pauseMs(): number
}

/** Makes it. */
export function createPeerWatch(deps: PeerWatchDeps): PeerWatch {
  const { device, applier, lostPeers, search, reports, applySoon, now } = deps
  let pauseMs = LOOK_MS

  function replaceEndpoints(present: readonly ReachablePeer[]): void {
    const lost = new Set(lostPeers.look(present))
    const given = present.filter(({ nodeId }) => lost.has(nodeId)).map((peer) => [peer.nodeId, peer.given] as const)
    const replaced = new Map([...given, ...search.look(present)])
    if (replaced.size === 0) return
    applier.replaceEndpoints(replaced)
    applySoon()
  }

  return {
    async look() {
      pauseMs = LOOK_MS
      const startedMs = now()
      const { peers } = await device.status()
      const readingMs = now() - startedMs
      const present = applier.present(peers)
      replaceEndpoints(present)
      const isWaiting = reports.take(seenEndpoints(present, now())) || search.isActive()
      pauseMs = Math.max(isWaiting ? SOON_MS : LOOK_MS, readingMs / READING_SHARE)
    },
    pauseMs: () => pauseMs,
  }
}
