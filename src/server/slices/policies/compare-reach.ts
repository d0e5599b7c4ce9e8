import { createFlowVerdicts, type ClassedNodes, type NodeClass } from './node-classes.ts'
import type { NodeParty } from './parties-store.ts'
import { createPauses } from './pause-work.ts'

/** An ordered pair of nodes. */
export interface NodePair {
  readonly from_node_id: string
  readonly from: string
  readonly to_node_id: string
  readonly to: string
}

/** Ordered pairs of different nodes: how many, and some of them. */
export interface PairCount {
  readonly count: number
  readonly sample: readonly NodePair[]
}

export interface ReachChange {
  /** Pairs between which some flow passes afterwards, and none did before. */
  readonly gained: PairCount
  readonly lost: PairCount
}

const SAMPLE_MAX = 100

/** Nodes that are of one class both before and afterwards. */
interface JointClass {
  readonly before: NodeClass
  readonly after: NodeClass
  /** Whether other policies match its nodes afterwards, or the same with other rules: else two of them keep their verdict. */
  readonly isTouched: boolean
  readonly nodes: NodeParty[]
}

/** Compares who reaches whom, by classes of nodes. Both have the same nodes. */
export async function compareReach(before: ClassedNodes, after: ClassedNodes): Promise<ReachChange> {
  const classes = jointClasses(before, after)
  const touched = classes.filter(({ isTouched }) => isTouched)
  const [passedBefore, passesAfter] = [createFlowVerdicts(before, {}), createFlowVerdicts(after, {})]
  const [gained, lost] = [createPairs(), createPairs()]
  const pause = createPauses()
  for (const from of classes) {
    for (const to of from.isTouched ? classes : touched) {
      const passed = passedBefore(from.before, to.before)
      const passes = passesAfter(from.after, to.after)
      if (passed !== passes) (passes ? gained : lost).add(from, to)
    }
    await pause()
  }
  return { gained: gained.counted(), lost: lost.counted() }
}

function jointClasses(before: ClassedNodes, after: ClassedNodes): readonly JointClass[] {
  const joint = new Map<string, JointClass>()
  for (const formerly of before.classes) {
    for (const node of formerly.nodes) {
      const now = after.classOf(node.id)
      if (now === undefined) throw new Error(`the node ${node.id} has no class`)
      const key = `${formerly.index} ${now.index}`
      const known = joint.get(key)
      if (known !== undefined) known.nodes.push(node)
      else
        joint.set(key, {
          before: formerly,
          after: now,
          isTouched: node.policies !== now.nodes[0]?.policies,
          nodes: [node],
        })
    }
  }
  return [...joint.values()]
}

function createPairs() {
  let count = 0
  const sample: NodePair[] = []
  return {
    add(from: JointClass, to: JointClass): void {
      count += from.nodes.length * to.nodes.length - (from === to ? from.nodes.length : 0)
      if (sample.length < SAMPLE_MAX) sample.push(...pairsOf(from, to, SAMPLE_MAX - sample.length))
    },
    counted: (): PairCount => ({ count, sample: sample.toSorted(byIds) }),
  }
}

function pairsOf(from: JointClass, to: JointClass, max: number): NodePair[] {
  const pairs: NodePair[] = []
  for (const one of from.nodes) {
    for (const other of to.nodes) {
      if (pairs.length === max) return pairs
      if (one.id !== other.id)
        pairs.push({ from_node_id: one.id, from: one.name, to_node_id: other.id, to: other.name })
    }
  }
  return pairs
}

function byIds(a: NodePair, b: NodePair): number {
  const [one, other] = [a.from_node_id + a.to_node_id, b.from_node_id + b.to_node_id]
  return one < other ? -1 : 1
}
