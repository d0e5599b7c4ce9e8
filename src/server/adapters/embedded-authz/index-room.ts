import { totalmem } from 'node:os'
import type { TupleIndex } from '../../../shared/authz/engine/tuple-index.ts'

/** The part of the memory that the index may take: it needs as much again for a moment whenever it grows. */
const SHARE = 0.25

/** The bytes that the index may take before this is said: a quarter of what the machine, or the container, has. */
export function indexBytesMax(): number {
  const constrained = process.constrainedMemory()
  return SHARE * (constrained > 0 ? Math.min(constrained, totalmem()) : totalmem())
}

/**
 * Looks at the size of the index, and says once when it passes the bound, and again after it was below. Nothing is refused:
 * a server that denies, or takes no grants, because it is large would be worse than one that is slow.
 */
export function createRoomWatch(bytesMax: number, warn: (message: string) => void): (index: TupleIndex) => void {
  let wasSaid = false
  return (index) => {
    const isCrowded = index.bytes > bytesMax
    if (isCrowded && !wasSaid) {
      const [taken, bound] = [index.bytes, bytesMax].map((bytes) => Math.round(bytes / 1024 / 1024))
      warn(
        `the authorization index takes ${taken} MiB for ${index.tuples} tuples, more than the ${bound} MiB that a quarter of the memory is: give this server more memory, or move to SpiceDB`,
      )
    }
    wasSaid = isCrowded
  }
}
