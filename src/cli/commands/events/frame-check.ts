import type { Frame } from '../../../client/event-stream.ts'
import type { DomainFrameFault } from '../../../shared/events/domain-verifier.ts'
import type { FrameFault } from '../../../shared/events/frame-verifier.ts'
import type { Place } from '../../../shared/events/order.ts'
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
  connected(): void
  look(frame: Frame): Promise<FrameVerdict>
  /** Frames that were refused, and places that show that others are missing. */
  faults(): number
}

/** What a verifier says of a frame. Frames of a Domain have no place: their positions have gaps. */
export type Verification =
  | { readonly ok: true; readonly place?: Place }
  | { readonly ok: false; readonly fault: FrameFault | DomainFrameFault }

/** Verifies the frames of one stream. */
export interface StreamVerifier {
  /** Called with each connection. */
  connected(): void
  verify(frame: Frame): Promise<Verification>
}

/** Makes a check by a verifier; without one it lets everything pass. */
export function createFrameCheck(session: Session, verifier: StreamVerifier | undefined): FrameCheck {
  if (verifier === undefined) return UNCHECKED
  let faults = 0
  return {
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
  connected: () => undefined,
  look: async () => ({ verdict: undefined, isTaken: true }),
  faults: () => 0,
}

/** What is wrong, in a sentence that goes on from "event 7"; undefined where nothing is. */
export function sentenceOf(verification: Verification): string | undefined {
  if (!verification.ok) return `${FAULT_SENTENCES[verification.fault]} (${verification.fault})`
  return verification.place && placeSentence(verification.place)
}

/** The verdict in one word. */
export function verdictOf(verification: Verification): string {
  if (!verification.ok) return verification.fault
  const kind = verification.place?.kind ?? 'next'
  return kind === 'first' || kind === 'next' ? 'ok' : kind
}
