import type { Clock } from '../../ports/clock.ts'

/** The system clock. */
export const systemClock: Clock = { now: () => Date.now() }
