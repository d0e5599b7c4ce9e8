import { insertionIndex } from '../../shared/sorted-ids.ts'
import type { Relays } from '../sql/edge-mode.ts'
import { areSameRules, createWorldClasses, type Place, type StoredRules, type WorldClasses } from './world-classes.ts'

/** The nodes of a Domain with peer visibility `reachable`, and who sees whom, at one revision of its peers. */
export interface World {
  readonly revision: number
  /** Ascending. */
  readonly ids: readonly string[]
  /** The class of each node. */
  readonly classOf: Uint32Array
  readonly classes: WorldClasses
  /** The number of nodes in each class. */
  readonly counts: Uint32Array
  /** The relays of edges. A node may be gone that is named here. */
  readonly relays: Relays
}

/** A node as a world needs it. */
export interface WorldNode extends Place {
  readonly nodeId: string
}

/** What changed between two revisions. */
export interface WorldChanges {
  readonly revision: number
  readonly relays: Relays
  /** All nodes of the Domain and the rules in force where `isWhole`; else the nodes that changed, without rules. */
  readonly isWhole: boolean
  readonly rules: StoredRules
  /** Ascending by id. */
  readonly nodes: readonly WorldNode[]
}

/** A table of classes is built again where it has more than this many for each that has nodes. */
const UNUSED_MAX = 4
/** Classes that a table has at least before it is built again. */
const CLASSES_MIN = 1_000

/** Brings a world up to date; `former` is undefined before the first read, which is whole. */
export function withChanges(former: World | undefined, changes: WorldChanges): World {
  if (changes.isWhole || former === undefined) return wholeWorld(former, changes)
  const { nodes, revision, relays } = changes
  if (nodes.length === 0) return { ...former, revision, relays }
  return { revision, relays, classes: former.classes, ...merged(former, nodes) }
}

/** Whether its table has grown so much by changes of nodes that the world is better read whole. */
export function isOvergrown({ classes, counts }: World): boolean {
  if (classes.size <= CLASSES_MIN) return false
  return classes.size > UNUSED_MAX * counts.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0)
}

function wholeWorld(former: World | undefined, { nodes, rules, revision, relays }: WorldChanges): World {
  const classes = former !== undefined && isStillGood(former, rules) ? former.classes : createWorldClasses(rules)
  const ids = nodes.map(({ nodeId }) => nodeId)
  const classOf = Uint32Array.from(nodes, (node) => classes.classOf(node))
  return { revision, relays, classes, ids, classOf, counts: countsOf(classOf, classes.size) }
}

function isStillGood(world: World, rules: StoredRules): boolean {
  return !isOvergrown(world) && areSameRules(world.classes.rules, rules)
}

type Members = Pick<World, 'ids' | 'classOf' | 'counts'>

/** Both are in the order of ids. */
function merged({ ids: former, classOf: classOfFormer, classes }: World, nodes: readonly WorldNode[]): Members {
  const ids: string[] = []
  const classOf = new Uint32Array(former.length + nodes.length)
  let at = 0
  const takeUpTo = (end: number): void => {
    for (; at < end; at++) classOf[ids.push(former[at] ?? '') - 1] = classOfFormer[at] ?? 0
  }
  for (const node of nodes) {
    takeUpTo(insertionIndex(former, node.nodeId))
    if (former[at] === node.nodeId) at += 1
    classOf[ids.push(node.nodeId) - 1] = classes.classOf(node)
  }
  takeUpTo(former.length)
  const used = classOf.subarray(0, ids.length)
  return { ids, classOf: used, counts: countsOf(used, classes.size) }
}

function countsOf(classOf: Uint32Array, size: number): Uint32Array {
  const counts = new Uint32Array(size)
  for (const index of classOf) counts[index] = (counts[index] ?? 0) + 1
  return counts
}

/** The index of the node in the world; -1 where it is not there. */
export function placeIn({ ids }: Pick<World, 'ids'>, nodeId: string): number {
  const place = insertionIndex(ids, nodeId)
  return ids[place] === nodeId ? place : -1
}
