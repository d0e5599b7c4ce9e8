import type { PolicyTest } from '../../../shared/policies/policy-document.ts'
import type { Flow } from '../../../shared/policies/verdict.ts'
import { createFlowVerdicts, type ClassedNodes, type NodeClass } from './node-classes.ts'
import { createPauses } from './pause-work.ts'

/** A policy whose tests are run. */
export interface TestedPolicy {
  /** Null for one that is not stored. */
  readonly id: string | null
  readonly slug: string
  readonly tests: readonly PolicyTest[]
}

/** A test with its policy. */
interface NamedTest {
  readonly policy: TestedPolicy
  readonly index: number
  readonly test: PolicyTest
}

/** A test that does not hold, and a pair of nodes that shows it. */
interface FailingTest {
  readonly policy_id: string | null
  readonly policy: string
  readonly test: number
  readonly from_node_id: string
  readonly to_node_id: string
  readonly expect: 'allowed' | 'denied'
}

/** Such a test with the names of the two nodes. */
export interface TestFailure extends FailingTest {
  readonly from: string
  readonly to: string
}

/** A selector of a test that no node matches: the test says nothing. */
export interface VacuousTest {
  readonly policyId: string | null
  readonly policy: string
  readonly test: number
  readonly selector: string
}

export interface TestOutcome {
  readonly failures: readonly TestFailure[]
  readonly vacuous: readonly VacuousTest[]
}

/** Most failures and vacuous tests that are listed. */
const LISTED_MAX = 100

/**
 * Runs the tests of policies: what one says must hold for every pair of different nodes of its two selectors. Works on classes
 * of nodes. `selected` gives the ids of the nodes of a selector.
 */
export async function runTests(
  policies: readonly TestedPolicy[],
  nodes: ClassedNodes,
  selected: (selector: string) => readonly string[],
): Promise<TestOutcome> {
  const named = policies.flatMap((policy) => policy.tests.map((test, index) => ({ policy, index, test })))
  const endsOf = createEnds(nodes, selected)
  const vacuous = named.flatMap((one) => vacuousEnds(one, endsOf))
  const failures: FailingTest[] = []
  const pause = createPauses()
  for (const tests of byFlow(named)) {
    const passes = createFlowVerdicts(nodes, flowOf(tests[0].test))
    for (const one of tests) {
      await pause()
      const pair = failingPair(endsOf(one.test.from), endsOf(one.test.to), {
        passes,
        isExpected: one.test.expect === 'allowed',
      })
      if (pair !== undefined) failures.push(failureOf(one, pair))
    }
  }
  const listed = inOrder(failures).slice(0, LISTED_MAX)
  return { failures: listed.map((one) => withNames(one, nodes)), vacuous: vacuous.slice(0, LISTED_MAX) }
}

function withNames(failure: FailingTest, nodes: ClassedNodes): TestFailure {
  const { from_node_id: from, to_node_id: to } = failure
  return { ...failure, from: nameOf(from, nodes), to: nameOf(to, nodes) }
}

function nameOf(nodeId: string, nodes: ClassedNodes): string {
  const node = nodes.classOf(nodeId)?.nodes.find(({ id }) => id === nodeId)
  if (node === undefined) throw new Error(`the node ${nodeId} has no class`)
  return node.name
}

function flowOf({ protocol, port }: PolicyTest): Flow {
  return { protocol, port }
}

/** Tests of one flow share their verdicts. */
function byFlow(named: readonly NamedTest[]): readonly (readonly [NamedTest, ...NamedTest[]])[] {
  const flows = new Map<string, [NamedTest, ...NamedTest[]]>()
  for (const one of named) {
    const key = `${one.test.protocol} ${one.test.port ?? ''}`
    const same = flows.get(key)
    if (same === undefined) flows.set(key, [one])
    else same.push(one)
  }
  return [...flows.values()]
}

/** Ids of nodes of a class that a selector selects: two of them at most, since one may be at the other end. */
interface End {
  readonly of: NodeClass
  readonly nodeIds: [string, string?]
}

type Ends = readonly End[]

function createEnds(
  nodes: ClassedNodes,
  selected: (selector: string) => readonly string[],
): (selector: string) => Ends {
  const known = new Map<string, Ends>()
  const find = (selector: string): Ends => {
    const ends = new Map<number, End>()
    for (const id of selected(selector)) {
      const of = nodes.classOf(id)
      if (of === undefined) continue
      const end = ends.get(of.index)
      if (end === undefined) ends.set(of.index, { of, nodeIds: [id] })
      else end.nodeIds[1] ??= id
    }
    return [...ends.values()]
  }
  return (selector) => {
    const ends = known.get(selector) ?? find(selector)
    known.set(selector, ends)
    return ends
  }
}

function vacuousEnds({ policy, index, test }: NamedTest, endsOf: (selector: string) => Ends): VacuousTest[] {
  return [...new Set([test.from, test.to])]
    .filter((selector) => endsOf(selector).length === 0)
    .map((selector) => ({ policyId: policy.id, policy: policy.slug, test: index, selector }))
}

type Pair = readonly [from: string, to: string]

function failingPair(
  from: Ends,
  to: Ends,
  {
    passes,
    isExpected,
  }: { readonly passes: (from: NodeClass, to: NodeClass) => boolean; readonly isExpected: boolean },
): Pair | undefined {
  for (const one of from) {
    for (const other of to) {
      if (passes(one.of, other.of) === isExpected) continue
      const pair = differentNodes(one, other)
      if (pair !== undefined) return pair
    }
  }
  return undefined
}

/** A node sends nothing to itself through the mesh. */
function differentNodes({ nodeIds: [first, second] }: End, { nodeIds: [other, another] }: End): Pair | undefined {
  if (first !== other) return [first, other]
  if (another !== undefined) return [first, another]
  return second === undefined ? undefined : [second, other]
}

function failureOf({ policy, index, test }: NamedTest, [from, to]: Pair): FailingTest {
  return {
    policy_id: policy.id,
    policy: policy.slug,
    test: index,
    from_node_id: from,
    to_node_id: to,
    expect: test.expect,
  }
}

function inOrder(failures: readonly FailingTest[]): readonly FailingTest[] {
  return failures.toSorted((a, b) => (a.policy === b.policy ? a.test - b.test : a.policy < b.policy ? -1 : 1))
}
