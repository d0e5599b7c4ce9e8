import type { Frame } from '../../../client/event-stream.ts'
import { isEvent } from '../../../shared/events/payloads.ts'
import type { ReceivedEnvelope } from '../../../shared/events/signed-envelope.ts'
import { isMembers } from '../../../shared/shapes.ts'
import type { GroupChange, PeerChange } from '../../../shared/events/wire-types.ts'
import type { Row } from '../../output/members.ts'
import { parsed, type RowView, type Verdict } from './row-view.ts'

/** Events of a node as a table. */
export const NODE_ROWS: RowView = { columns: ['id', 'node_seq', 'type', 'at', 'about'], tableRow }

/** A frame as a row of a table. What it says is taken at its word. */
export function tableRow({ id, event, data }: Frame, verdict: Verdict): Row {
  const value = parsed(data)
  const envelope = isMembers(value) ? value : {}
  const payload = envelope['payload']
  return {
    id,
    node_seq: envelope['node_seq'],
    type: event,
    at: envelope['occurred_at'],
    // What it is taken for decides about nothing but this text.
    about: isMembers(payload) ? about({ ...envelope, type: event, payload } as ReceivedEnvelope) : 'not readable',
    ...verdict,
  }
}

/** The number that a frame claims to be; undefined where it claims none. */
export function claimedNumber(data: string): number | undefined {
  const value = parsed(data)
  const number = isMembers(value) ? value['node_seq'] : undefined
  return typeof number === 'number' ? number : undefined
}

function about(envelope: ReceivedEnvelope): string {
  if (isEvent(envelope, 'node_state_updated')) {
    const { reason, blocks, peers, groups = [] } = envelope.payload
    if (reason === 'resync') return 'too many changes to list: pull the state'
    return [blocks.join(', '), ...peersText(peers), ...groupsText(groups)].join('; ')
  }
  if (isEvent(envelope, 'policy_updated')) {
    const { policy_id, rules } = envelope.payload
    return `policy ${policy_id.slice(-8)}, ${rules.length} rules`
  }
  if (isEvent(envelope, 'bridge_config_updated')) return `bridge ${envelope.payload.bridge_resource_id.slice(-8)}`
  if (isEvent(envelope, 'action_request')) {
    const { action, type, execution_id } = envelope.payload
    return `${type} ${action}, execution ${execution_id.slice(-8)}`
  }
  if (isEvent(envelope, 'session_setup')) {
    const { kind, target, session_id } = envelope.payload
    return `${kind} to ${target}, session ${session_id.slice(-8)}`
  }
  return JSON.stringify(envelope.payload)
}

/** Peers that a table lists one by one, at most. */
const PEERS_LISTED = 2
/** Groups that a table lists one by one, at most. */
const GROUPS_LISTED = 2

function peersText(peers: readonly PeerChange[]): readonly string[] {
  const listed = peers.slice(0, PEERS_LISTED).map(({ node_id, changes }) => `${node_id.slice(-8)} ${changes.join(' ')}`)
  return peers.length > PEERS_LISTED ? [...listed, `${peers.length - PEERS_LISTED} more`] : listed
}

function groupsText(groups: readonly GroupChange[]): readonly string[] {
  const listed = groups
    .slice(0, GROUPS_LISTED)
    .map(({ group, added, removed }) => `group ${group} +${added.length} -${removed.length}`)
  return groups.length > GROUPS_LISTED ? [...listed, `${groups.length - GROUPS_LISTED} more groups`] : listed
}
