/** Between two looks at what changes by itself, and at most when looking takes long. */
export const POLL_MS_MIN = 500
export const POLL_MS_MAX = 5000

/** The pause give or take a quarter, so that several who wait do not ask in step. */
export function jittered(ms: number): number {
  return ms * (0.75 + Math.random() / 2)
}
