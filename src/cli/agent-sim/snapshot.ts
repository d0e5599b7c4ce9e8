import { canonicalize } from '../../shared/canonical-json.ts'
import type { ActionRequestPayload, SessionSetupPayload } from '../../shared/events/wire-types.ts'
import type { PeerFacts } from './peer-book.ts'

/** A pulled state as an agent reads it; blocks of which it makes no use are left out. */
export interface Snapshot {
  readonly peers: readonly (PeerFacts & { readonly fallback_endpoint?: string })[]
  readonly executions: readonly PulledExecution[]
  readonly sessions: readonly SessionSetupPayload[]
}

export type PulledExecution = Omit<ActionRequestPayload, 'status'> & { readonly status: 'pending' | 'ack' | 'started' }

/** Why a snapshot breaks a promise (S0 NodeStateSnapshot). */
export type SnapshotFault = 'not_json' | 'block_missing' | 'not_canonical' | 'peers_unsorted' | 'own_peer' | 'bad_peer'

export type ReadSnapshot =
  | { readonly ok: true; readonly snapshot: Snapshot }
  | { readonly ok: false; readonly fault: SnapshotFault }

const BLOCKS = ['peers', 'policy', 'bridge', 'state/reports', 'executions', 'sessions']

/**
 * Reads and judges what a node pulled. Writing it anew in canonical form is most of the work for thousands of peers, and
 * is done only where that is asked for.
 */
export function readSnapshot(
  bytes: Buffer,
  { nodeId, isCanonicalAsked }: { readonly nodeId: string; readonly isCanonicalAsked: boolean },
): ReadSnapshot {
  const text = bytes.toString('utf8')
  const value = parsed(text)
  if (value === undefined) return { ok: false, fault: 'not_json' }
  if (!isSnapshot(value)) return { ok: false, fault: 'block_missing' }
  if (isCanonicalAsked && canonicalize(value) !== text) return { ok: false, fault: 'not_canonical' }
  const fault = faultOf(value, nodeId)
  return fault === undefined ? { ok: true, snapshot: value } : { ok: false, fault }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isSnapshot(value: unknown): value is Snapshot {
  if (typeof value !== 'object' || value === null) return false
  const blocks = value as Readonly<Record<string, unknown>>
  const areThere = BLOCKS.every((block) => Object.hasOwn(blocks, block))
  return areThere && ['peers', 'executions', 'sessions'].every((block) => Array.isArray(blocks[block]))
}

function faultOf({ peers }: Snapshot, nodeId: string): SnapshotFault | undefined {
  let before = ''
  for (const peer of peers) {
    if (!isPeer(peer)) return 'bad_peer'
    if (peer.node_id === nodeId) return 'own_peer'
    if (peer.node_id <= before) return 'peers_unsorted'
    before = peer.node_id
  }
  return undefined
}

function isPeer(peer: unknown): boolean {
  if (typeof peer !== 'object' || peer === null) return false
  const { node_id, public_key, mesh_address, endpoint, psk_issued_at } = peer as Readonly<Record<string, unknown>>
  const texts = [node_id, public_key, mesh_address, psk_issued_at]
  return texts.every((text) => typeof text === 'string' && text !== '') && typeof endpoint === 'string'
}
