import type { KyselyPlugin } from 'kysely'
import type { Datastore } from '../../../src/server/ports/datastore.ts'

/** What a process that is no more would have said. */
export class Crash extends Error {
  constructor(step: number) {
    super(`the process ended before step ${step}`)
    this.name = 'Crash'
  }
}

/** A datastore whose process ends at one step: before a statement, or after a commit whose answer nobody hears. */
export interface CrashingDatastore extends Datastore {
  /** Steps that were taken. */
  steps(): number
}

/** Takes `stepsLeft` steps, then fails for good: what was open rolls back, as when the process is killed. */
export function crashingDatastore(datastore: Datastore, stepsLeft: number): CrashingDatastore {
  let steps = 0
  const step = (): void => {
    if (steps >= stepsLeft) throw new Crash(steps + 1)
    steps += 1
  }
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      step()
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return {
    ...datastore,
    pool: (name) => datastore.pool(name).withPlugin(plugin),
    async transaction(pool, work) {
      const result = await datastore.transaction(pool, (tx) => work(tx.withPlugin(plugin)))
      step()
      return result
    },
    steps: () => steps,
  }
}
