import { totalmem } from 'node:os'
import type { TupleIndex } from '../../../shared/authz/engine/tuple-index.ts'

/** The part of the memory that the index may use: while it grows, it briefly needs twice its size. */
const SHARE = 0.25

/** Bytes of the index above which a warning is logged: a quarter of the memory of the machine or container. */
export function indexBytesMax(): number {
  const constrained = process.constrainedMemory()
  return SHARE * (constrained > 0 ? Math.min(constrained, totalmem()) : totalmem())
}

/**
 * Checks the size of the index, and logs once when it exceeds the bound, and again after it was below. Nothing is refused:
 * a server that denies, or takes no grants, because it is large would be worse than one that is slow.
 */
export function createIndexSizeWatch(bytesMax: number, warn: (message: string) => void): (index: TupleIndex) => void {
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
