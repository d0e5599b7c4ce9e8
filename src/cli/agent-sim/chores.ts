import type { MeshAgentDeps } from './agent/agent-deps.ts'
import { CHORES } from './agent/life.ts'
import type { Rates } from './scenario/rates.ts'
import type { SimulatedNode } from './simulated-node.ts'

const EVERY_MS = 250

/**
 * Lets agents drawn by lot do what is done every now and then, at the rates that hold at that moment, until the signal.
 * One timer for the fleet: agents keep no time for what they may never do.
 */
export function keepChores(
  deps: MeshAgentDeps,
  nodes: readonly SimulatedNode[],
  { ratesNow, until }: { readonly ratesNow: () => Rates; readonly until: AbortSignal },
): void {
  const { wheel, clock } = deps
  const owed = new Map<keyof Rates, number>()
  const turn = (): void => {
    if (until.aborted) return
    const rates = ratesNow()
    for (const name of Object.keys(rates) as (keyof Rates)[]) {
      const due = (owed.get(name) ?? 0) + (nodes.length * rates[name] * EVERY_MS) / 60_000
      owed.set(name, due % 1)
      for (let times = Math.floor(due); times > 0; times -= 1) {
        const node = nodes[Math.floor(clock.random() * nodes.length)]
        if (node !== undefined && !node.isCutOff) deps.errands.begin(CHORES[name](deps, node))
      }
    }
    wheel.after(EVERY_MS, turn)
  }
  wheel.after(EVERY_MS, turn)
}
