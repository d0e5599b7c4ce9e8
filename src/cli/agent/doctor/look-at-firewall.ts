import { ok, problem, type Finding } from '../../commands/doctor/finding.ts'
import { reasonOf } from '../errors.ts'
import { planFilter } from '../firewall/filter-plan.ts'
import { createNft } from '../firewall/nft.ts'
import { tableNameOf } from '../firewall/table-name.ts'
import { readKnownMesh } from '../state/known-mesh.ts'
import type { RunningFacts } from './doctor-facts.ts'

/** Whether the policies of the node are in force in the kernel. */
export async function lookAtFirewall(facts: RunningFacts): Promise<Finding> {
  const { policies } = facts.status
  if (policies.fault !== null)
    return problem('firewall', `policies are not enforced: ${policies.fault}`, 'See ctl agent status.')
  try {
    if (await isIsolated(facts)) return await lookAtTable(facts)
    return ok('firewall', 'no policy isolates this node: nothing is dropped')
  } catch (error) {
    return problem('firewall', `it cannot be looked at: ${reasonOf(error)}`, 'Mend what is above first.')
  }
}

/** By the policies that the agent has written down for its next start. */
async function isIsolated({ place, status }: RunningFacts): Promise<boolean> {
  const known = await readKnownMesh(place.mesh, status.node_id)
  return Object.keys(planFilter(known?.policies ?? [])).length > 0
}

async function lookAtTable({ system, status }: RunningFacts): Promise<Finding> {
  const table = tableNameOf(status.interface.name)
  const found = await createNft(system.run).read(table)
  if (found?.marker !== undefined) return ok('firewall', `the policies are in force: table inet ${table}`)
  return problem(
    'firewall',
    `the table inet ${table} of nftables is not there, so that policies are not enforced`,
    'Another program removed it, as "nft flush ruleset" does. Restart the agent: it makes the table again.',
  )
}
