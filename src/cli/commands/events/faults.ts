import type { DomainFrameFault } from '../../../shared/events/domain-verifier.ts'
import type { FrameFault } from '../../../shared/events/frame-verifier.ts'
import type { Place } from '../../../shared/events/order.ts'

/** What is wrong with a frame, in a sentence that goes on from "event 7". */
export const FAULT_SENTENCES: Readonly<Record<FrameFault | DomainFrameFault, string>> = {
  malformed: 'is no signed envelope',
  not_canonical: 'says it in other bytes than are signed',
  unknown_key: 'is signed with a key that is not published',
  expired_key: 'is signed with a key that had expired when it occurred',
  bad_signature: 'has a signature that does not hold',
  wrong_node: 'is genuine, and of another node',
  wrong_domain: 'is genuine, and of another Domain',
  bad_id: 'has a position that is no number, or not the signed one',
  type_mismatch: 'is announced as another type than was signed',
  duplicate: 'was seen before',
}

/** What the place of a genuine event says of others; undefined where it is as expected. */
export function placeSentence(place: Place): string | undefined {
  if (place.kind === 'gap')
    return place.from === place.to
      ? `comes without the event before it, number ${place.from}`
      : `comes without the events before it, numbers ${place.from} to ${place.to}`
  return place.kind === 'reordered' ? 'comes after events that follow it' : undefined
}
