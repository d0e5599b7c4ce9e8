import { isPeerAddress } from '../../shared/bridges/peer-subnet.ts'
import type { BridgeParts, Candidate } from './bridge-parts.ts'
import type { Conflict } from './bridge-world.ts'
import { nameOf } from './claims.ts'

/** What a provider conflicts with among the peers that are stored for its slug. */
export function peerConflicts({ peers }: Pick<BridgeParts, 'peers'>, candidate: Candidate): readonly Conflict[] {
  if (candidate.part !== 'user-access') return []
  const part = nameOf(candidate)
  const { slug, peer_subnet: subnet, max_peers: limit } = candidate.value
  const own = peers.filter((peer) => peer.slug === slug)
  const isInUse = own.some(({ address }) => subnet === null || !isPeerAddress(subnet, address))
  return [
    ...(isInUse ? [{ code: 'peer_subnet_in_use' as const, part }] : []),
    ...(own.length > limit ? [{ code: 'max_peers_reached' as const, part, limit }] : []),
  ]
}
