import type { Visibility } from './visibility.ts'
import type { World } from './world.ts'

/** Nodes that are in two worlds, of one class in the first and of one class in the second. */
interface Moved {
  readonly before: number
  readonly after: number
  readonly nodeIds: string[]
}

/**
 * Finds the nodes of both worlds that see another set of these nodes in the second one, apart from relays. Compares pairs of
 * classes, so that the work does not grow with the square of the nodes. Yields after the comparisons of each class, so that
 * the caller can let others run.
 */
export function* changedViewers(before: Visibility, after: Visibility): Generator<undefined, readonly string[]> {
  const [former, present] = [before.world, after.world]
  const isSameTable = former.classes === present.classes
  const all = movedOf(former, present)
  // With the same rules, only a node that changed class is seen by others than before.
  const others = isSameTable ? all.filter((one) => one.before !== one.after) : all
  const changed: string[] = []
  for (const one of all) {
    const compared = isSameTable && one.before !== one.after ? all : others
    if (compared.some((other) => isChanged(one, other))) changed.push(...one.nodeIds)
    yield undefined
  }
  return changed

  function isChanged(one: Moved, other: Moved): boolean {
    if (one === other && one.nodeIds.length === 1) return false
    return former.classes.mayExchange(one.before, other.before) !== present.classes.mayExchange(one.after, other.after)
  }
}

function movedOf(former: World, present: World): readonly Moved[] {
  const moved = new Map<string, Moved>()
  let at = 0
  for (const [place, nodeId] of present.ids.entries()) {
    while ((former.ids[at] ?? nodeId) < nodeId) at += 1
    if (former.ids[at] !== nodeId) continue
    const [before, after] = [former.classOf[at] ?? 0, present.classOf[place] ?? 0]
    const key = `${before} ${after}`
    const known = moved.get(key)
    if (known === undefined) moved.set(key, { before, after, nodeIds: [nodeId] })
    else known.nodeIds.push(nodeId)
  }
  return [...moved.values()]
}

/** Runs it at once. */
export function differenceOf(before: Visibility, after: Visibility): readonly string[] {
  const steps = changedViewers(before, after)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** How long others may wait while it runs in parts, ms. */
const TURN_MS = 8

/** Runs it in parts. The classes keep what it computed: `differenceOf` the same worlds is fast afterwards. */
export async function prepareDifference(before: Visibility, after: Visibility): Promise<void> {
  const steps = changedViewers(before, after)
  let turnMs = performance.now()
  while (steps.next().done !== true) {
    if (performance.now() - turnMs < TURN_MS) continue
    await new Promise(setImmediate)
    turnMs = performance.now()
  }
}
