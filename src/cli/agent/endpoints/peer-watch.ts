import type { Device } from '../device/device.ts'
import type { MeshApplier } from '../tunnel/mesh-applier.ts'
import type { LostPeers } from './lost-peers.ts'
import type { ObservedReports } from './observed-reports.ts'
import { seenEndpoints } from './seen-endpoints.ts'

/** What the watch needs. */
export interface PeerWatchDeps {
  readonly device: Pick<Device, 'status'>
  readonly applier: Pick<MeshApplier, 'present' | 'replaceEndpoints'>
  readonly lostPeers: LostPeers
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
  /** Reports where peers are seen, and gives lost ones the endpoint of the server. */
  look(): Promise<void>
  /** Pause before the next look. */
  pauseMs(): number
}

/** Makes it. */
export function createPeerWatch({ device, applier, lostPeers, reports, applySoon, now }: PeerWatchDeps): PeerWatch {
  let pauseMs = LOOK_MS
  return {
    async look() {
      pauseMs = LOOK_MS
      const startedMs = now()
      const { peers } = await device.status()
      const readingMs = now() - startedMs
      const present = applier.present(peers)
      const lost = lostPeers.look(present)
      if (lost.length > 0) {
        applier.replaceEndpoints(lost)
        applySoon()
      }
      const isWaiting = reports.take(seenEndpoints(present, now()))
      pauseMs = Math.max(isWaiting ? SOON_MS : LOOK_MS, readingMs / READING_SHARE)
    },
    pauseMs: () => pauseMs,
  }
}
