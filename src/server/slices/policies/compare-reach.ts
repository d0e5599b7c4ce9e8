import { canonicalize } from '../../../shared/canonical-json.ts'
import type { CompiledEntry, Direction } from '../../../shared/policies/rule-types.ts'
import { passesBeyond, passingFlows } from '../../../shared/policies/verdict.ts'
import { policiesAt, type ClassedNodes, type ClassedPolicy, type NodeClass } from './node-classes.ts'
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
  /** Pairs between which some flow passes afterwards that did not before. A pair may be among both. */
  readonly gained: PairCount
  /** Pairs between which some flow passed before that does not afterwards. */
  readonly lost: PairCount
}

const SAMPLE_MAX = 100

/** Nodes that are of one class both before and afterwards. */
interface JointClass {
  readonly before: NodeClass
  readonly after: NodeClass
  /** In which directions its nodes have other rules afterwards: two sides with the rules of before keep their verdict. */
  readonly changed: Readonly<Record<Direction, boolean>>
  readonly nodes: NodeParty[]
}

/** Compares which flows pass between nodes, by classes of nodes. Both have the same nodes, and policies among the given ones. */
export async function compareReach(
  before: ClassedNodes,
  after: ClassedNodes,
  policies: readonly ClassedPolicy[],
): Promise<ReachChange> {
  const classes = jointClasses({ before, after, isSameSide: createSideComparison(policies) })
  const receiving = classes.filter(({ changed }) => changed.ingress)
  const [gained, lost] = [createPairs(), createPairs()]
  const pause = createPauses()
  for (const from of classes) {
    for (const to of from.changed.egress ? classes : receiving) {
      const passed = passingFlows(from.before.party, to.before.party)
      const passes = passingFlows(from.after.party, to.after.party)
      if (passesBeyond(passes, passed)) gained.add(from, to)
      if (passesBeyond(passed, passes)) lost.add(from, to)
    }
    await pause()
  }
  return { gained: gained.counted(), lost: lost.counted() }
}

interface Compared {
  readonly before: ClassedNodes
  readonly after: ClassedNodes
  readonly isSameSide: SideComparison
}

function jointClasses({ before, after, isSameSide }: Compared): readonly JointClass[] {
  const joint = new Map<string, JointClass>()
  for (const formerly of before.classes) {
    for (const node of formerly.nodes) {
      const now = after.classOf(node.id)
      if (now === undefined) throw new Error(`the node ${node.id} has no class`)
      const key = `${formerly.index} ${now.index}`
      const known = joint.get(key)
      if (known !== undefined) known.nodes.push(node)
      else joint.set(key, { before: formerly, after: now, changed: changeOf(formerly, now, isSameSide), nodes: [node] })
    }
  }
  return [...joint.values()]
}

function changeOf(before: NodeClass, after: NodeClass, isSameSide: SideComparison): JointClass['changed'] {
  const [one, other] = [before.nodes[0]?.policies ?? '', after.nodes[0]?.policies ?? '']
  return { ingress: !isSameSide(one, other, 'ingress'), egress: !isSameSide(one, other, 'egress') }
}

/** Whether two sets of policies, as `NodeParty.policies`, have the same entries in a direction. */
type SideComparison = (one: string, other: string, direction: Direction) => boolean

function createSideComparison(policies: readonly ClassedPolicy[]): SideComparison {
  const texts = new Map<string, string>()
  const textOf = (indexes: string, direction: Direction): string => {
    const key = `${direction} ${indexes}`
    const text =
      texts.get(key) ??
      sideText(
        policiesAt(indexes).flatMap((index) => policies[index]?.entries ?? []),
        direction,
      )
    texts.set(key, text)
    return text
  }
  return (one, other, direction) => one === other || textOf(one, direction) === textOf(other, direction)
}

/** Entries form a union: neither their order nor how often one comes matters. */
function sideText(entries: readonly CompiledEntry[], direction: Direction): string {
  const own = entries.filter((entry) => entry.direction === direction)
  return [...new Set(own.map((entry) => canonicalize(entry)))].toSorted().join()
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
