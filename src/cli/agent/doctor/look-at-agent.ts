import { ok, problem, skipped, warning, type Finding } from '../../commands/doctor/finding.ts'
import type { AgentStatus, PeerRow } from '../control/agent-status.ts'
import type { RunningFacts } from './doctor-facts.ts'

/** What the running agent answers about itself and its peers. */
export function lookAtAgent({ status, peers }: RunningFacts): readonly Finding[] {
  return [agent(status), events(status), keys(peers), paths(peers)]
}

/** Faults of policies and names are findings of their own. */
function agent({ pid, version, faults, policies, names }: AgentStatus): Finding {
  const [first, ...others] = faults.filter((fault) => fault !== policies.fault && fault !== names.fault)
  if (first === undefined) return ok('agent', `runs as process ${pid}, version ${version}`)
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return warning(
    'agent',
    `runs as process ${pid}, with a fault: ${first}${more}`,
    'See ctl agent status and ctl agent logs.',
  )
}

function events({ server }: AgentStatus): Finding {
  if (server.is_streaming) return ok('events', 'the event stream is open')
  const detail = 'the event stream is closed: changes arrive late'
  if (server.reachable !== true) return skipped('events', `${detail}, since the server is away`)
  return problem('events', detail, 'See ctl agent logs. A proxy before the server must not buffer or cut long answers.')
}

/** Names that are listed before the others are counted. */
const NAMED = 5

function listed(peers: readonly PeerRow[]): string {
  const names = peers.slice(0, NAMED).map(({ name, mesh_address: address }) => (name === '' ? address : name))
  return `${names.join(', ')}${peers.length > NAMED ? ` and ${peers.length - NAMED} more` : ''}`
}

function keys(peers: readonly PeerRow[]): Finding {
  const missing = peers.filter(({ has_key: hasKey }) => !hasKey)
  if (missing.length === 0)
    return ok('keys', peers.length === 0 ? 'there are no peers' : 'the key of each edge is there')
  return warning(
    'keys',
    `the key of the edge is missing for ${listed(missing)}`,
    'The agent fetches it as soon as the server gives it: see ctl agent logs.',
  )
}

/** WireGuard makes a session when there is a packet to send, so that a missing one is no fault by itself. */
function paths(peers: readonly PeerRow[]): Finding {
  const silent = peers.filter(({ path }) => path === 'none')
  if (peers.length === 0) return skipped('peers', 'there are none')
  const relayed = peers.filter(({ path }) => path === 'relayed').length
  const by = relayed === 0 ? '' : `, with ${relayed} through a relay`
  if (silent.length === 0) return ok('peers', `there is a session with each of ${peers.length}${by}`)
  return warning(
    'peers',
    `no session with ${silent.length} of ${peers.length}: ${listed(silent)}`,
    'Ping them: ctl agent netcheck',
  )
}
