import { isMembers, type Members } from '../shapes.ts'
import { DOMAIN_ENVELOPE, type DomainEnvelope } from './domain-envelope.ts'
import type { StreamFrame } from './frame-verifier.ts'
import { readSignedAs, type ReadFault } from './signed-envelope.ts'
import { signatureFault, type VerifierDeps } from './verifier.ts'

/** An event of a Domain as it was received, with members that this version may not know. */
export type ReceivedDomainEnvelope = DomainEnvelope & Members

/**
 * Why a frame of a Domain's stream is refused: as frames of nodes are, or `wrong_domain`: genuine, and of another Domain;
 * `bad_id`: its position is not the signed one; `duplicate`: it does not come after those before it.
 */
export type DomainFrameFault =
  | ReadFault
  | 'unknown_key'
  | 'expired_key'
  | 'bad_signature'
  | 'wrong_domain'
  | 'bad_id'
  | 'type_mismatch'
  | 'duplicate'

export type DomainFrameVerification =
  | { readonly ok: true; readonly envelope: ReceivedDomainEnvelope }
  | { readonly ok: false; readonly fault: DomainFrameFault }

/** Verifies the frames of one Domain's stream, in the order in which they come. Rejects where a key cannot be looked up. */
export type DomainFrameVerifier = (frame: StreamFrame) => Promise<DomainFrameVerification>

/**
 * Creates a verifier for one stream. Positions have gaps, so that a missing event does not show; the server sends
 * `stream.resync` for those that it leaves out. After one, positions may begin again below, as they do after a restore.
 */
export function createDomainFrameVerifier(deps: VerifierDeps & { readonly domainId: string }): DomainFrameVerifier {
  let last = -1
  return async (frame) => {
    const read = readSignedAs(frame.data, isDomainEnvelope)
    if (!read.ok) return read
    const { envelope } = read.signed
    const fault = (await signatureFault(read.signed, deps)) ?? placeFault(frame, envelope, deps.domainId)
    if (fault !== undefined) return { ok: false, fault }
    if (envelope.seq <= last && envelope.type !== 'stream.resync') return { ok: false, fault: 'duplicate' }
    last = envelope.seq
    return { ok: true, envelope }
  }
}

function placeFault(
  { id, event }: StreamFrame,
  envelope: DomainEnvelope,
  domainId: string,
): DomainFrameFault | undefined {
  if (envelope.domain_id !== domainId) return 'wrong_domain'
  if (id !== undefined && id !== String(envelope.seq)) return 'bad_id'
  return event !== undefined && event !== envelope.type ? 'type_mismatch' : undefined
}

function isDomainEnvelope(value: unknown): value is ReceivedDomainEnvelope {
  // A second signature inside would be ambiguous.
  return DOMAIN_ENVELOPE.fits(value) && isMembers(value) && !Object.hasOwn(value, 'signature')
}
