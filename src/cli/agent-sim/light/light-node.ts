import { NO_FAULTS, firstEndpoint, type FleetNode } from '../simulated-node.ts'
import { startBinary, type StartBinaries } from '../binary.ts'
import type { NodeIdentity } from '../state-directory.ts'
import type { ChangeLedger } from './change-ledger.ts'

/** The nodes of one Domain. */
export interface LightDomain {
  readonly members: LightNode[]
  readonly ledger: ChangeLedger
}

/** A node with a light agent. */
export interface LightNode extends FleetNode {
  readonly domain: LightDomain
  /** Index in its Domain, from 0. */
  readonly member: number
  /** `ETag` of the last pull, unless an event has changed the state since. */
  etag: string | undefined
  /** As of `Pulling`. */
  pulling: 'idle' | 'due' | 'running' | 'again'
}

/** Makes the node, and adds it to its Domain. */
export function lightNode(
  identity: NodeIdentity,
  {
    place,
    domain,
    binaries,
  }: { readonly place: number; readonly domain: LightDomain; readonly binaries: StartBinaries },
): LightNode {
  const node: LightNode = {
    place,
    identity,
    domain,
    member: domain.members.length,
    lastAcceptedMs: undefined,
    stream: undefined,
    binary: identity.binary ?? startBinary(binaries, place),
    endpoint: firstEndpoint(place),
    faults: NO_FAULTS,
    etag: undefined,
    pulling: 'idle',
    isRevoked: false,
    isSavingKey: false,
    isKeyRefused: false,
  }
  domain.members.push(node)
  return node
}
