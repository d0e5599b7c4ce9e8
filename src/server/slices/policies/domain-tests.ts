import { problem } from '../../../shared/problems.ts'
import type { Db } from '../../ports/datastore.ts'
import { bindStored } from '../../policies/bound-selectors.ts'
import { evaluateNodes } from '../../policies/evaluate-nodes.ts'
import { classifyNodes } from './node-classes.ts'
import { readNodeParties, readPoliciesInForce } from './parties-store.ts'
import { runTests, type VacuousTest } from './run-tests.ts'

/**
 * Runs the tests of all policies of a Domain over what the transaction has written. Gives the tests that no pair of nodes
 * decides.
 *
 * @throws Problem `policy_test_failed`
 */
export async function assertTestsHold(tx: Db, domainId: string): Promise<readonly VacuousTest[]> {
  const policies = await readPoliciesInForce(tx, domainId)
  const texts = policies.flatMap(({ document: { tests } }) => tests.flatMap(({ from, to }) => [from, to]))
  if (texts.length === 0) return []
  const bound = await bindStored(tx, domainId, texts)
  const nodes = await readNodeParties(tx, domainId, { policyIds: policies.map(({ id }) => id) })
  const selected = await evaluateNodes(tx, domainId, { nodes, bound, isAll: true })
  const tested = policies.map(({ id, slug, document: { tests } }) => ({ id, slug, tests }))
  const { failures, vacuous } = await runTests(tested, classifyNodes(nodes, policies), selected)
  if (failures.length === 0) return vacuous
  // Every policy here is stored, if only in this transaction.
  throw problem('policy_test_failed', { failures: failures.map((one) => ({ ...one, policy_id: one.policy_id ?? '' })) })
}
