import { problem, skipped, type Finding } from '../../commands/doctor/finding.ts'
import { askAgent } from '../control/ask-agent.ts'
import type { AgentStatus, PeerRow } from '../control/agent-status.ts'
import { reasonOf } from '../errors.ts'
import type { Place } from '../place.ts'
import type { DoctorSystem, NodeFacts } from './doctor-facts.ts'
import { lookAtAgent } from './look-at-agent.ts'
import { lookAtConflicts } from './look-at-conflicts.ts'
import { lookAtFirewall } from './look-at-firewall.ts'
import { lookAtIngress } from './look-at-ingress.ts'
import { lookAtInterface } from './look-at-interface.ts'
import { lookAtMachine } from './look-at-machine.ts'
import { lookAtNames } from './look-at-names.ts'
import { lookAtServer } from './look-at-server.ts'
import { lookAtState } from './look-at-state.ts'

/** What is examined. */
export interface Examination {
  readonly system: DoctorSystem
  readonly place: Place
  readonly userAgent: string
}

/** Looks at the machine, then at the node, then at the running agent, as far as they are there. Changes nothing. */
export async function examine({ system, place, userAgent }: Examination): Promise<readonly Finding[]> {
  const { findings, state } = await lookAtState(place)
  const here = [...lookAtMachine(system), ...findings]
  if (state === undefined) return here
  const node: NodeFacts = { system, place, state, userAgent }
  return [...here, ...(await lookAtServer(node)), ...(await lookAtConflicts(node)), ...(await lookAtRunning(node))]
}

async function lookAtRunning(node: NodeFacts): Promise<readonly Finding[]> {
  const { socket } = node.place
  try {
    const status = (await askAgent(socket, 'status')) as AgentStatus | undefined
    const peers = (await askAgent(socket, 'peers')) as readonly PeerRow[] | undefined
    if (status === undefined || peers === undefined)
      return [problem('agent', 'it does not run', 'Start it: ctl agent up, or systemctl start ctl-agent'), ...notSeen()]
    const facts = { ...node, status, peers }
    return [
      ...lookAtAgent(facts),
      await lookAtFirewall(facts),
      ...(await lookAtInterface(facts)),
      ...(await lookAtNames(facts)),
      lookAtIngress(facts),
    ]
  } catch (error) {
    return [problem('agent', reasonOf(error), 'See ctl agent logs; restart the agent.'), ...notSeen()]
  }
}

function notSeen(): readonly Finding[] {
  return ['events', 'keys', 'peers', 'firewall', 'interface', 'names', 'ingress'].map((check) =>
    skipped(check, 'no agent runs'),
  )
}
