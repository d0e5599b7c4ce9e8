import type { AgentClock } from '../agent-clock.ts'

const FIRST_MS = 1_000
const LONGEST_MS = 60_000

/**
 * Pause after that number of failures in succession, from 1: at random between half and all of `min(60 s, 1 s · 2^n)` (agent protocol:
 * Errors).
 */
export function backoffMs({ random }: Pick<AgentClock, 'random'>, failures: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** failures) * (0.5 + 0.5 * random())
}
