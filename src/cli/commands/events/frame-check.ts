import type { Frame } from '../../../client/event-stream.ts'
import type { FrameVerifier, FrameVerification } from '../../../shared/events/frame-verifier.ts'
import type { Session } from '../../session/session.ts'
import { FAULT_SENTENCES, placeSentence } from './faults.ts'

/** What was found out about a frame. */
export interface FrameVerdict {
  /** Undefined where nothing was looked at. */
  readonly verdict: string | undefined
  /** Whether the stream may be resumed after it. */
  readonly isTaken: boolean
}

/** Looks at frames as they come, and says on stderr what is wrong. */
export interface FrameCheck {
  readonly isVerifying: boolean
  connected(): void
  look(frame: Frame): Promise<FrameVerdict>
  /** Frames that were refused, and places that show that others are missing. */
  faults(): number
}

export interface FrameCheckOptions {
  readonly nodeId: string
  readonly isVerifying: boolean
}

/** Makes a check of one node's stream, with the keys that the server publishes; or one that lets everything pass. */
export async function createFrameCheck(session: Session, options: FrameCheckOptions): Promise<FrameCheck> {
  if (!options.isVerifying) return UNCHECKED
  const verifier = await openVerifier(session, options.nodeId)
  let faults = 0
  return {
    isVerifying: true,
    connected: () => verifier.connected(),
    async look(frame) {
      const verification = await verifier.verify(frame)
      const sentence = sentenceOf(verification)
      if (sentence !== undefined) {
        faults += 1
        session.warn(`event ${frame.id ?? 'without an id'} ${sentence}`)
      }
      return { verdict: verdictOf(verification), isTaken: verification.ok }
    },
    faults: () => faults,
  }
}

const UNCHECKED: FrameCheck = {
  isVerifying: false,
  connected: () => undefined,
  look: async () => ({ verdict: undefined, isTaken: true }),
  faults: () => 0,
}

async function openVerifier(session: Session, nodeId: string): Promise<FrameVerifier> {
  const [
    { createPublishedKeys },
    { createEnvelopeVerifier },
    { createFrameVerifier },
    { createSignatureVerifier },
    caller,
  ] = await Promise.all([
    import('../../../client/published-keys.ts'),
    import('../../../shared/events/verifier.ts'),
    import('../../../shared/events/frame-verifier.ts'),
    import('../../../client/verify-signature.ts'),
    session.caller(),
  ])
  const findKey = createPublishedKeys({ caller, manifest: session.manifest() })
  const verify = createEnvelopeVerifier({ findKey, verify: createSignatureVerifier() })
  return createFrameVerifier({ verify, nodeId })
}

/** What is wrong, in a sentence that goes on from "event 7"; undefined where nothing is. */
export function sentenceOf(verification: FrameVerification): string | undefined {
  return verification.ok
    ? placeSentence(verification.place)
    : `${FAULT_SENTENCES[verification.fault]} (${verification.fault})`
}

/** The verdict in one word. */
export function verdictOf(verification: FrameVerification): string {
  if (!verification.ok) return verification.fault
  const { kind } = verification.place
  return kind === 'first' || kind === 'next' ? 'ok' : kind
}
