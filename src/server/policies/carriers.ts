import { relayChain } from '../sql/edge-mode.ts'
import { placeIn, type World } from './world.ts'

/** The nodes that carry edges in a world, named by their places. */
export interface Carriers {
  /** Whether the node carries edges of others, or is the relay of its class, whose own edges another one carries. */
  has(place: number): boolean
  /** All of them, ascending. */
  readonly places: readonly number[]
  /** Whether that node carries an edge of the other one: one that ends there, or one that begins there. */
  carries(carrier: number, other: number): boolean
  /** The same of a node of the class for which `has` is false. */
  carriesClass(carrier: number, index: number): boolean
}

/** The edges that one node carries. */
interface Load {
  /** The classes of the nodes at which they end. */
  readonly classes: Set<number>
  /** Whether nodes of a class have an edge with one of these. */
  readonly known: Map<number, boolean>
}

/**
 * Finds the nodes that carry edges. Nodes of one class have one relay, except for those that are it themselves: these have
 * the next one. `hasPeers`: whether a node of the class may exchange packets with any other node.
 */
export function createCarriers(world: World, hasPeers: (index: number) => boolean): Carriers {
  const { classOf, classes, counts } = world
  const loads = new Map<number, Load>()
  const chains = new Map<string | null, readonly number[]>()

  const classAt = (place: number): number => classOf[place] ?? 0

  /** The places of the nodes that may carry edges to nodes of the class, the best first; -1 for those that are gone. */
  function chainOf(index: number): readonly number[] {
    const bridgeId = classes.bridgeOf(index)
    const known = chains.get(bridgeId)
    if (known !== undefined) return known
    const chain = relayChain(world.relays, bridgeId).map((id) => placeIn(world, id))
    chains.set(bridgeId, chain)
    return chain
  }

  /** The relay of a node; -1 where it has none. */
  function relayOf(place: number): number {
    return chainOf(classAt(place)).find((each) => each !== place) ?? -1
  }

  const firstOf = (index: number): number => chainOf(index)[0] ?? -1

  function add(carrier: number, index: number): void {
    if (carrier < 0) return
    const load = loads.get(carrier) ?? { classes: new Set<number>(), known: new Map<number, boolean>() }
    loads.set(carrier, load)
    load.classes.add(index)
  }

  /** Each class is carried by its first relay, unless that is the only node of it. */
  function addClasses(): void {
    for (const [index, count] of counts.entries()) {
      const first = firstOf(index)
      if (count > (first >= 0 && classAt(first) === index ? 1 : 0)) add(first, index)
    }
  }

  addClasses()
  /** Relays of their own class, whose edges the next one carries. */
  const relayed = Array.from(chains.values())
    .flat()
    .filter((place) => place >= 0 && firstOf(classAt(place)) === place)
  for (const place of relayed) add(relayOf(place), classAt(place))
  const own = new Set([...relayed, ...loads.keys()])

  /** Whether an edge begins at a node of the class, which the carrier does not carry edges to, and ends where it does. */
  function begins({ classes: ending, known }: Load, index: number): boolean {
    const answer = known.get(index)
    if (answer !== undefined) return answer
    const found = [...ending].some((other) => classes.mayExchange(index, other))
    known.set(index, found)
    return found
  }

  return {
    has: (place) => own.has(place),
    places: [...own].toSorted((a, b) => a - b),
    carries(carrier, other) {
      const load = loads.get(carrier)
      if (load === undefined) return false
      return relayOf(other) === carrier ? hasPeers(classAt(other)) : begins(load, classAt(other))
    },
    carriesClass(carrier, index) {
      const load = loads.get(carrier)
      if (load === undefined) return false
      return firstOf(index) === carrier ? hasPeers(index) : begins(load, index)
    },
  }
}
