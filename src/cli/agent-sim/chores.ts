import type { MeshAgentDeps } from './agent/agent-deps.ts'
import { CHORES } from './agent/routines.ts'
import type { MadeBridges } from './made-bridges.ts'
import type { Rates } from './scenario/rates.ts'
import type { SimulatedNode } from './simulated-node.ts'

const EVERY_MS = 250

interface ChoreTerms {
  readonly ratesNow: () => Rates
  readonly until: AbortSignal
  readonly bridges: Pick<MadeBridges, 'size' | 'change'>
}

/**
 * Starts the occasional work of the fleet, for random nodes and at the present rates, until the signal is aborted. One timer
 * serves the whole fleet, because most agents never do most of it.
 */
export function startChores(
  deps: MeshAgentDeps,
  nodes: readonly SimulatedNode[],
  { ratesNow, until, bridges }: ChoreTerms,
): void {
  const { wheel, clock } = deps
  const remainders = new Map<keyof Rates, number>()
  const doOnce = (name: keyof Rates): void => {
    if (name === 'bridge_changes') return deps.tasks.track(bridges.change())
    const node = nodes[Math.floor(clock.random() * nodes.length)]
    if (node !== undefined && !node.isRevoked) deps.tasks.track(CHORES[name](deps, node))
    return undefined
  }
  const tick = (): void => {
    if (until.aborted) return
    const rates = ratesNow()
    for (const name of Object.keys(rates) as (keyof Rates)[]) {
      const population = name === 'bridge_changes' ? bridges.size() : nodes.length
      const due = (remainders.get(name) ?? 0) + (population * rates[name] * EVERY_MS) / 60_000
      remainders.set(name, due % 1)
      for (let times = Math.floor(due); times > 0; times -= 1) doOnce(name)
    }
    wheel.after(EVERY_MS, tick)
  }
  wheel.after(EVERY_MS, tick)
}
