import type { ActionRequestPayload, SessionSetupPayload } from '../../../shared/events/wire-types.ts'
import { canonicalize } from '../../../shared/canonical-json.ts'
import { parseCanonical } from './canonical-bytes.ts'
import { listOf } from './json-scan.ts'
import type { PeerBook } from '../peers/peer-book.ts'
import { areBridges, reportedBridges } from '../bridges/bridge-book.ts'
import { arePolicies } from '../policies/policy-book.ts'
import type { OwnFacts } from '../member.ts'
import { areOwnFacts } from './own-facts.ts'
import { createPeerListReader, type PeerListFault } from './peer-list.ts'

/** The parts of a pulled state that a simulated agent uses. */
export interface Snapshot {
  /** What the server knows of the node itself; undefined if it is too old to give it. */
  readonly self: OwnFacts | undefined
  /** Fact numbers of the reader's book, ordered by node id. */
  readonly peers: Uint32Array
  /** Canonical JSON of the policies: equal for most nodes of a Domain, so that it is parsed once (`createPolicyBook`). */
  readonly policies: string
  /** Canonical JSON of the configurations of bridges (`createBridgeBook`). */
  readonly bridges: string
  /** Ids of the bridges of which the server has a report of the node, ascending. */
  readonly reportedBridges: readonly string[]
  readonly executions: readonly PulledExecution[]
  readonly sessions: readonly SessionSetupPayload[]
}

export type PulledExecution = Omit<ActionRequestPayload, 'status'> & { readonly status: 'pending' | 'ack' | 'started' }

/** How a snapshot violates the specification (S0 NodeStateSnapshot). */
export type SnapshotFault = PeerListFault | 'block_missing' | 'own_peer' | 'bad_policy' | 'bad_bridge' | 'bad_self'

export type ReadSnapshot =
  | { readonly ok: true; readonly snapshot: Snapshot }
  | { readonly ok: false; readonly fault: SnapshotFault }

/** Parses and validates the pulled state of a node. */
export type SnapshotReader = (bytes: Buffer, nodeId: string) => ReadSnapshot

/** Required blocks other than the peers. */
const BLOCKS = ['policy', 'bridge', 'state/reports', 'executions', 'sessions']

/** Makes a reader that stores the peers in the book. */
export function createSnapshotReader(book: PeerBook): SnapshotReader {
  const readPeers = createPeerListReader(book)
  return (bytes, nodeId) => {
    const from = listOf(bytes, 'peers')
    if (from === undefined) return refused(bytes, 'block_missing')
    const list = readPeers(bytes, from)
    if (!list.ok) return refused(bytes, list.fault)
    const rest = parseCanonical(Buffer.concat([bytes.subarray(0, from), bytes.subarray(list.end - 1)]))
    if (!rest.ok) return refused(bytes, rest.fault)
    if (!hasBlocks(rest.value)) return { ok: false, fault: 'block_missing' }
    const own = book.placeOf(nodeId)
    if (list.numbers.some((number) => book.placeOfFacts(number) === own)) return { ok: false, fault: 'own_peer' }
    const { executions, sessions, self } = rest.value
    if (self !== undefined && !areOwnFacts(self)) return { ok: false, fault: 'bad_self' }
    const texts = readTexts(rest.value)
    if (typeof texts === 'string') return { ok: false, fault: texts }
    return { ok: true, snapshot: { self, peers: list.numbers, ...texts, executions, sessions } }
  }
}

/** The blocks that many nodes share, as text, or the fault of one. */
function readTexts({ policy, bridge, ...rest }: RestOfState): BlockTexts | SnapshotFault {
  if (!arePolicies(policy)) return 'bad_policy'
  if (!areBridges(bridge)) return 'bad_bridge'
  return {
    policies: canonicalize(policy.policies),
    bridges: canonicalize(bridge.resources),
    reportedBridges: reportedBridges(rest['state/reports']),
  }
}

/** Reports a fault. A fault of the whole document takes precedence, because it explains the fault of a part. */
function refused(bytes: Buffer, fault: SnapshotFault): ReadSnapshot {
  const whole = parseCanonical(bytes)
  return { ok: false, fault: whole.ok ? fault : whole.fault }
}

type BlockTexts = Pick<Snapshot, 'policies' | 'bridges' | 'reportedBridges'>

type RestOfState = Pick<Snapshot, 'executions' | 'sessions'> & {
  readonly policy: unknown
  readonly bridge: unknown
  readonly 'state/reports': unknown
  readonly self?: unknown
}

function hasBlocks(value: unknown): value is RestOfState {
  if (typeof value !== 'object' || value === null) return false
  const blocks = value as Readonly<Record<string, unknown>>
  const isComplete = BLOCKS.every((block) => Object.hasOwn(blocks, block))
  return isComplete && Array.isArray(blocks['executions']) && Array.isArray(blocks['sessions'])
}
