import { readFile } from 'node:fs/promises'
import { Resolver } from 'node:dns/promises'
import { ok, problem, skipped, warning, type Finding } from '../../commands/doctor/finding.ts'
import { reasonOf } from '../errors.ts'
import { withoutBlock } from '../names/hosts-block.ts'
import { ZONE } from '../names/name-table.ts'
import type { AgentStatus } from '../control/agent-status.ts'
import type { RunningFacts } from './doctor-facts.ts'

const QUERY_MS_MAX = 2_000

/** Whether the names of the mesh work, by the way that the agent has found. */
export async function lookAtNames(facts: RunningFacts): Promise<readonly Finding[]> {
  const { names } = facts.status
  if (names.way === 'none' && names.fault === null) return [skipped('names', 'the agent was started without them')]
  return [...(await resolver(facts)), await hosts(facts), way(facts)]
}

function way({ status: { names } }: RunningFacts): Finding {
  if (names.fault === null) return ok('names', `programs of this machine get them by ${names.way}`)
  return warning('names', names.fault, 'See ctl agent logs.')
}

/** Asks the resolver of the agent for the name of this node. */
async function resolver({ status }: RunningFacts): Promise<readonly Finding[]> {
  const { listen } = status.names
  if (listen === null) return []
  if (status.state === 'waiting')
    return [skipped('resolver', 'the agent waits for its first state, which has the names')]
  return [await asked(listen, status)]
}

async function asked(listen: string, status: AgentStatus): Promise<Finding> {
  const name = `${status.name}.${ZONE}`
  const client = new Resolver({ timeout: QUERY_MS_MAX, tries: 1 })
  client.setServers([listen])
  try {
    const addresses = await client.resolve4(name)
    if (addresses.includes(status.mesh_address))
      return ok('resolver', `${listen} answers ${name} with ${addresses.join(', ')}`)
    return problem(
      'resolver',
      `${listen} answers ${name} with ${addresses.join(', ')}, and its address is ${status.mesh_address}`,
      'Restart the agent.',
    )
  } catch (error) {
    return problem('resolver', `${listen} does not answer ${name}: ${reasonOf(error)}`, 'Restart the agent.')
  }
}

/** The block in the hosts file: there where the agent writes one, and else not. */
async function hosts({ system, status }: RunningFacts): Promise<Finding> {
  const { hostsFile: path } = system
  try {
    const text = await readFile(path, 'latin1')
    const hasBlock = withoutBlock(text, status.interface.name) !== text
    const isWanted = status.names.way === 'hosts-file'
    if (hasBlock === isWanted)
      return ok('hosts', hasBlock ? `${path} has the names` : `${path} has no names of the mesh`)
    return hasBlock
      ? warning(
          'hosts',
          `${path} has names of the mesh that an earlier run wrote`,
          'Restart the agent, which removes them.',
        )
      : problem('hosts', `${path} has no names of the mesh`, 'Restart the agent, which writes them.')
  } catch (error) {
    const hints = error instanceof Error && 'hints' in error && Array.isArray(error.hints) ? error.hints.join(' ') : ''
    return problem('hosts', reasonOf(error), hints)
  }
}
