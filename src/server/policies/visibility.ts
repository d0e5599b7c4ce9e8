import { createCarriers } from './carriers.ts'
import type { World } from './world.ts'

/** Places in the list of a world's nodes: pairs of the first one and that after the last one, ascending. */
export type Runs = readonly number[]

/** Who sees whom in a world. Nodes are named by their places in it. A node sees those that see it. */
export interface Visibility {
  readonly world: World
  /** Whether two different nodes see each other: they may exchange packets, or one of them relays edges of the other. */
  sees(one: number, other: number): boolean
  /** The nodes that a node sees, without itself. */
  seenBy(place: number): Runs
  /** The nodes that nodes of the class see, and that see them: each of them, and themselves where they see each other. */
  seeingClass(index: number): Runs
  /** Whether the node is a relay, which sees more than others of its class. */
  isRelay(place: number): boolean
  /** All relays, ascending. */
  readonly relays: readonly number[]
}

/** Maximum of classes whose runs are kept. */
const KEPT_MAX = 2_048

/** Makes the answers for one world. What nodes of a class see in common is computed once. */
export function createVisibility(world: World): Visibility {
  const { ids, classOf, classes, counts } = world
  const kept = new Map<number, Runs>()
  const withPeers = new Map<number, boolean>()

  const classAt = (place: number): number => classOf[place] ?? 0
  const mayExchange = (one: number, other: number): boolean => classes.mayExchange(classAt(one), classAt(other))

  /** Whether a node of the class may exchange packets with any other node. */
  function hasPeers(index: number): boolean {
    const known = withPeers.get(index)
    if (known !== undefined) return known
    const found = counts.some((count, other) => count > (other === index ? 1 : 0) && classes.mayExchange(index, other))
    withPeers.set(index, found)
    return found
  }

  const carriers = createCarriers(world, hasPeers)

  function sees(one: number, other: number): boolean {
    return mayExchange(one, other) || carriers.carries(one, other) || carriers.carries(other, one)
  }

  function runsOf(isSeen: (place: number) => boolean): Runs {
    const runs: number[] = []
    let isOpen = false
    for (let place = 0; place < ids.length; place++) {
      if (isSeen(place) === isOpen) continue
      isOpen = !isOpen
      runs.push(place)
    }
    if (isOpen) runs.push(ids.length)
    return runs
  }

  /** With the nodes of the class itself, if they see each other. */
  function seeingClass(index: number): Runs {
    const known = kept.get(index)
    if (known !== undefined) return known
    const answers = new Uint8Array(classes.size)
    for (let other = 0; other < answers.length; other++) answers[other] = classes.mayExchange(index, other) ? 1 : 0
    const runs = runsOf((place) => answers[classAt(place)] === 1 || carriers.carriesClass(place, index))
    if (kept.size >= KEPT_MAX) kept.clear()
    kept.set(index, runs)
    return runs
  }

  return {
    world,
    sees,
    seenBy(place) {
      if (carriers.has(place)) return runsOf((other) => other !== place && sees(place, other))
      return withoutPlace(seeingClass(classAt(place)), place)
    },
    seeingClass,
    isRelay: (place) => carriers.has(place),
    relays: carriers.places,
  }
}

/** The runs without one of their places. */
function withoutPlace(runs: Runs, place: number): Runs {
  for (let at = 0; at < runs.length; at += 2) {
    const [from = 0, to = 0] = [runs[at], runs[at + 1]]
    if (place < from || place >= to) continue
    const left = [from, place, place + 1, to]
    return [
      ...runs.slice(0, at),
      ...(place === from ? [] : left.slice(0, 2)),
      ...(place + 1 === to ? [] : left.slice(2)),
      ...runs.slice(at + 2),
    ]
  }
  return runs
}

/** The number of places in runs. */
export function countOf(runs: Runs): number {
  let count = 0
  for (let at = 0; at < runs.length; at += 2) count += (runs[at + 1] ?? 0) - (runs[at] ?? 0)
  return count
}

/** Calls with each place of runs, ascending. */
export function eachPlace(runs: Runs, visit: (place: number) => void): void {
  for (let at = 0; at < runs.length; at += 2) {
    for (let place = runs[at] ?? 0; place < (runs[at + 1] ?? 0); place++) visit(place)
  }
}

/** Whether the runs contain the place. */
export function isAmong(runs: Runs, place: number): boolean {
  let [low, high] = [0, runs.length / 2]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((runs[2 * middle + 1] ?? 0) <= place) low = middle + 1
    else high = middle
  }
  return (runs[2 * low] ?? Infinity) <= place
}
