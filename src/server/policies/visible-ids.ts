import { eachPlace, type Visibility } from './visibility.ts'
import { placeIn } from './world.ts'

/** The nodes that a node sees, by id; none where the world does not have it. */
export function visibleIds(visibility: Visibility, nodeId: string): ReadonlySet<string> {
  const { world } = visibility
  const place = placeIn(world, nodeId)
  const ids = new Set<string>()
  if (place >= 0) eachPlace(visibility.seenBy(place), (seen) => void ids.add(world.ids[seen] ?? ''))
  return ids
}

/** Those of the nodes that a node sees, in their order; all where `visibility` is undefined. */
export function visibleAmong<Node>(
  nodes: readonly Node[],
  idOf: (node: Node) => string,
  { visibility, nodeId }: { readonly visibility: Visibility | undefined; readonly nodeId: string },
): readonly Node[] {
  if (visibility === undefined) return nodes
  const ids = visibleIds(visibility, nodeId)
  return nodes.filter((node) => ids.has(idOf(node)))
}

/** Whether two different nodes see each other; a node that the world does not have sees nobody. */
export function seeEachOther(visibility: Visibility | undefined, one: string, other: string): boolean {
  if (visibility === undefined) return true
  const [place, otherPlace] = [placeIn(visibility.world, one), placeIn(visibility.world, other)]
  return place >= 0 && otherPlace >= 0 && visibility.sees(place, otherPlace)
}
