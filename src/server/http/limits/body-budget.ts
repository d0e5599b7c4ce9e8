import { problem } from '../../../shared/problems.ts'
import type { OverloadMeter } from './overload-meter.ts'

const MiB = 1024 * 1024
/** Bytes of request bodies that one principal may have under way. */
const PRINCIPAL_BYTES_MAX = 16 * MiB
/** Bytes of request bodies that all principals together may have under way. */
const TOTAL_BYTES_MAX = 64 * MiB

/** Bytes of request bodies that are being received or worked on. */
export interface BodyBudget {
  /**
   * Reserves bytes before they are read. @throws Problem `too_many_bodies` when the principal has too many under way,
   * `overloaded` when all together have; then nothing is reserved.
   */
  reserve(subject: string, bytes: number): void
  /** Releases a reservation. */
  release(subject: string, bytes: number): void
}

/** Creates an empty budget. Bodies that arrive in a single read are not counted. */
export function createBodyBudget(meter: OverloadMeter): BodyBudget {
  const reserved = new Map<string, number>()
  let total = 0
  return {
    reserve(subject, bytes) {
      const own = (reserved.get(subject) ?? 0) + bytes
      const isTooMuch = own > PRINCIPAL_BYTES_MAX
      if (isTooMuch || total + bytes > TOTAL_BYTES_MAX) {
        meter.refused('bodies')
        throw problem(isTooMuch ? 'too_many_bodies' : 'overloaded', { retry_after_seconds: 1 })
      }
      reserved.set(subject, own)
      total += bytes
    },
    release(subject, bytes) {
      const left = (reserved.get(subject) ?? 0) - bytes
      total -= bytes
      if (left > 0) reserved.set(subject, left)
      else reserved.delete(subject)
    },
  }
}
