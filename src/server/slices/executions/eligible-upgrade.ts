import { problem } from '../../../shared/problems.ts'
import type { Db } from '../../ports/datastore.ts'
import { ineligibilityFor, readUpgradeTarget } from '../../releases/upgrade-target.ts'
import type { Asked } from './actions.ts'
import { declaredArchitecture } from './store.ts'

/** The version of a parameter that no release can have. */
const NO_VERSION = ''

/**
 * Lets an upgrade to a version pass only where the node may be upgraded to that release. An upgrade without a version is up to the
 * agent.
 *
 * @throws Problem `release_not_eligible`
 */
export async function assertEligible(
  db: Db,
  nodeId: string,
  { action, type, parameters }: Asked & { readonly parameters?: Readonly<Record<string, unknown>> | undefined },
): Promise<void> {
  if (action !== 'upgrade_agent' || type !== 'builtin' || parameters?.['version'] === undefined) return
  const { version } = parameters
  const target = await readUpgradeTarget(db, typeof version === 'string' ? version : NO_VERSION)
  const reason = ineligibilityFor(target, await declaredArchitecture(db, nodeId))
  if (reason !== undefined) throw problem('release_not_eligible', { reason })
}
