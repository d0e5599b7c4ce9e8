import type { Progress } from '../dashboard.ts'

const PHASES: readonly Progress['phase'][] = [
  'registering',
  'connecting',
  'running',
  'settling',
  'comparing',
  'deregistering',
  'done',
]

/** The progress of several processes together: the phase is that of the last one. Undefined before the first. */
export function mergedProgress(all: readonly Progress[]): Progress | undefined {
  const [last] = all.toSorted((a, b) => PHASES.indexOf(a.phase) - PHASES.indexOf(b.phase))
  if (last === undefined) return undefined
  const sum = (of: (progress: Progress) => number): number => all.reduce((whole, one) => whole + of(one), 0)
  return {
    phase: last.phase,
    nodes: sum(({ nodes }) => nodes),
    nodesWanted: sum(({ nodesWanted }) => nodesWanted),
    elapsedSeconds: last.elapsedSeconds,
    durationSeconds: last.durationSeconds,
    reachability: last.reachability && tally(all),
    operationsPerSecond: sum(({ operationsPerSecond }) => operationsPerSecond),
  }
}

function tally(all: readonly Progress[]): Readonly<Record<string, number>> {
  const whole: Record<string, number> = {}
  for (const { reachability = {} } of all)
    for (const [state, count] of Object.entries(reachability)) whole[state] = (whole[state] ?? 0) + count
  return whole
}
