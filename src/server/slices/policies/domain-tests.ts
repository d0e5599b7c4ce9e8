import { problem } from '../../../shared/problems.ts'
import type { BoundSelector } from '../../../shared/selectors/bind-selector.ts'
import type { Db } from '../../ports/datastore.ts'
import { bindStored } from '../../policies/bound-selectors.ts'
import { evaluateLabels, readLabelsOfAll, type LabelsOfNodes } from '../../policies/evaluate-nodes.ts'
import { classifyNodes } from './node-classes.ts'
import { readNodeParties, readPoliciesInForce, type PolicyInForce } from './parties-store.ts'
import { runTests, type VacuousTest } from './run-tests.ts'

/** The tests of all policies of a Domain, in what a transaction has written. */
export interface DomainTests {
  readonly policies: readonly PolicyInForce[]
  /** The selectors of the tests, by their texts. */
  readonly bound: ReadonlyMap<string, BoundSelector>
}

/** Reads the policies with their tests, once all policies are written. */
export async function readDomainTests(tx: Db, domainId: string): Promise<DomainTests> {
  const policies = await readPoliciesInForce(tx, domainId)
  const texts = policies.flatMap(({ document: { tests } }) => tests.flatMap(({ from, to }) => [from, to]))
  return { policies, bound: texts.length === 0 ? new Map() : await bindStored(tx, domainId, texts) }
}

/**
 * Runs the tests over what the transaction has written. Gives the tests that no pair of nodes decides. `labels`: those of all
 * nodes of the Domain, where the transaction has read them.
 *
 * @throws Problem `policy_test_failed`
 */
export async function assertTestsHold(
  tx: Db,
  domainId: string,
  { policies, bound, labels }: DomainTests & { readonly labels?: LabelsOfNodes | undefined },
): Promise<readonly VacuousTest[]> {
  if (bound.size === 0) return []
  const nodes = await readNodeParties(tx, domainId, { policyIds: policies.map(({ id }) => id) })
  const read = labels ?? (await readLabelsOfAll(tx, domainId, bound.values()))
  const tested = policies.map(({ id, slug, document: { tests } }) => ({ id, slug, tests }))
  const selected = evaluateLabels({ nodes, bound }, read)
  const { failures, vacuous } = await runTests(tested, classifyNodes(nodes, policies), selected)
  if (failures.length === 0) return vacuous
  // Every policy here is stored, if only in this transaction.
  throw problem('policy_test_failed', { failures: failures.map((one) => ({ ...one, policy_id: one.policy_id ?? '' })) })
}
