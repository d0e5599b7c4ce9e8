import type { bridge } from '../../../shared/contract/bridge.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { Candidate } from '../../bridges/bridge-parts.ts'
import type { BridgeWorld, Conflict } from '../../bridges/bridge-world.ts'

/** A conflict as `CheckBridge` answers it. */
export type ConflictAnswer = Result<(typeof bridge)['operations']['CheckBridge']>['conflicts'][number]

/** The secret, or the ACME directory, that a part names; undefined where it names none. */
export function refOf(candidate: Candidate): string | undefined {
  if (candidate.part === 'relay') return undefined
  if (candidate.part === 'ingress') return candidate.value.acme_account_ref ?? undefined
  return candidate.value.auth_secret_ref
}

/** Words a conflict for a reader who knows the parts by their names. */
export function answerOf(conflict: Conflict, world: BridgeWorld, part: Candidate | undefined): ConflictAnswer {
  return {
    code: conflict.code,
    part: conflict.part,
    conflicts_with: 'with' in conflict ? conflict.with : null,
    detail: detailOf(conflict, world, part),
  }
}

function detailOf(conflict: Conflict, { meshCidr }: BridgeWorld, part: Candidate | undefined): string {
  if ('with' in conflict) return claimDetail(conflict)
  switch (conflict.code) {
    case 'subnet_overlap_with_mesh':
      return `${conflict.subnet} overlaps the mesh, ${meshCidr}.`
    case 'bridge_limit_exceeded':
      return `The bridge has more than ${conflict.limit}.`
    case 'peer_subnet_in_use':
      return 'Peers have addresses that the subnet does not give to peers.'
    case 'max_peers_reached':
      return `The provider has more peers than the ${conflict.limit} that it admits.`
    case 'target_node_not_in_domain':
      return `The target ${targetOf(part)} is not a node of the Domain of the bridge.`
    default:
      return `${(part && refOf(part)) ?? ''} is not a secret of the Project of the bridge.`
  }
}

function claimDetail(conflict: Extract<Conflict, { readonly with: unknown }>): string {
  switch (conflict.code) {
    case 'bridge_port_conflict':
      return `${conflict.with} has claimed port ${conflict.port}.`
    case 'interface_name_conflict':
      return `${conflict.with} has the same interface name.`
    case 'slug_conflict':
      return `${conflict.with} has the same server name.`
    default:
      return `${conflict.subnet} overlaps a subnet of ${conflict.with}.`
  }
}

function targetOf(part: Candidate | undefined): string {
  return part?.part === 'ingress' ? part.value.target_node_id : ''
}
