import { ok, problem, warning, type Finding } from '../../commands/doctor/finding.ts'
import { reasonOf } from '../errors.ts'
import { acceptMeshNetwork, isInside } from '../server-answers/mesh-network.ts'
import { machineAddresses } from '../system/machine-addresses.ts'
import { aliasOf } from '../system/own-links.ts'
import { parseCidr } from '../../../shared/networks/cidr.ts'
import type { NodeFacts } from './doctor-facts.ts'
import { readIp, type IpLink } from './read-ip.ts'

/** What of this machine, or of other programs on it, gets in the way of the mesh. */
export async function lookAtConflicts(facts: NodeFacts): Promise<readonly Finding[]> {
  try {
    const links = await readIp<IpLink>(facts.system.run, ['-d', 'address', 'show'])
    return [await addresses(facts), neighbours(facts, links), ...otherAgents(facts, links)]
  } catch (error) {
    return [problem('network', `it cannot be looked at: ${reasonOf(error)}`, 'Mend what is above first.')]
  }
}

async function addresses({ state, system }: NodeFacts): Promise<Finding> {
  const { enrolment, machine, server } = state
  const { interface_name: interfaceName } = machine
  const query = { run: system.run, serverUrl: server.url, interfaceName, owner: enrolment.node_id }
  const found = await machineAddresses(query)
  const { mesh_address: address, mesh_cidr: cidr } = enrolment
  try {
    acceptMeshNetwork({ address, cidr }, found)
    return ok('network', `${cidr ?? address} overlaps with no address that this machine needs`)
  } catch (error) {
    return problem('network', reasonOf(error), 'Choose another mesh_cidr for the Domain: ctl domains update --help')
  }
}

/** Tailscale drops packets of 100.64.0.0/10 that come from other interfaces than its own. */
const SHARED = '100.64.0.0/10'

function neighbours({ state }: NodeFacts, links: readonly IpLink[]): Finding {
  const { mesh_address: address } = state.enrolment
  const overlapping = links
    .filter((link) => !isOfAgent(link))
    .filter((link) => addressesOf(link).some((own) => isWithin(own, SHARED)))
  const names = overlapping.map(({ ifname = '' }) => ifname).join(', ')
  if (overlapping.length === 0 || !isWithin(address, SHARED))
    return ok('neighbours', 'no other interface has addresses of the same range')
  return warning(
    'neighbours',
    `${names} has addresses of ${SHARED} too, as those of Tailscale, which drops packets of other interfaces from there`,
    'Give the Domain a mesh_cidr outside of it, or start Tailscale with --netfilter-mode=off.',
  )
}

function addressesOf({ addr_info: infos = [] }: IpLink): readonly string[] {
  return infos.flatMap(({ local }) => local ?? [])
}

function isWithin(address: string, network: string): boolean {
  const read = parseCidr(network)
  return read.ok && isInside(address, read.cidr)
}

/** Agents mark their interfaces with the id of their node. */
function isOfAgent({ ifalias }: IpLink): boolean {
  return ifalias?.startsWith('ctl ') === true
}

function otherAgents({ state }: NodeFacts, links: readonly IpLink[]): readonly Finding[] {
  const own = aliasOf(state.enrolment.node_id)
  const others = links.filter((link) => isOfAgent(link) && link.ifalias !== own)
  if (others.length === 0) return [ok('agents', 'no other agent has an interface here')]
  const names = others.map(({ ifname = '' }) => ifname).join(', ')
  return [
    warning(
      'agents',
      `${names} belongs to another agent of this machine`,
      'If it is not meant: ctl agent down --state-dir DIR, or ip link del NAME',
    ),
  ]
}
