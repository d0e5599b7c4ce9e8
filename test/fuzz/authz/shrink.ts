import type { World } from './world.ts'
import { smallerWorlds } from './smaller-worlds.ts'

/** Whether a world still shows what is being looked for. */
export type Shows = (world: World) => Promise<boolean>

/** Makes a world smaller, step by step, for as long as it shows the same; asks at most `attemptsMax` times. */
export async function shrink(world: World, shows: Shows, attemptsMax: number): Promise<World> {
  let smallest = world
  let attempts = 0
  for (let isSmaller = true; isSmaller && attempts < attemptsMax;) {
    isSmaller = false
    for (const candidate of smallerWorlds(smallest)) {
      if (attempts++ >= attemptsMax) break
      if (!(await shows(candidate))) continue
      smallest = candidate
      isSmaller = true
      break
    }
  }
  return smallest
}
