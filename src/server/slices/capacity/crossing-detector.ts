/** The ratio at which a crossing fires, and the one below which the next can (S1 Capacity). */
const FIRES_AT = 0.8
const ARMS_BELOW = 0.75

/** Whether a dimension is over its threshold after a sample, and whether this sample crossed it. */
export interface Detected {
  readonly isOver: boolean
  readonly hasCrossed: boolean
}

/**
 * Decides on one sample. Between the two bounds a dimension stays what it was, so that a ratio around 0.80 fires once. A ratio that
 * is null has no target: the dimension is over nothing, and the first ratio after it fires like the first one of all.
 */
export function detect(wasOver: boolean, ratio: number | null): Detected {
  if (ratio === null || ratio < ARMS_BELOW) return { isOver: false, hasCrossed: false }
  if (wasOver || ratio < FIRES_AT) return { isOver: wasOver, hasCrossed: false }
  return { isOver: true, hasCrossed: true }
}
