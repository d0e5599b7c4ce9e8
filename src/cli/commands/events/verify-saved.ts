import type { FrameFault, FrameVerifier, FrameVerification } from '../../../shared/events/frame-verifier.ts'
import { createFrameVerifier } from '../../../shared/events/frame-verifier.ts'
import type { EnvelopeVerifier } from '../../../shared/events/verifier.ts'
import { sentenceOf, verdictOf } from './frame-check.ts'
import { claimedNumber } from './node-rows.ts'
import { createSavedFrames, type BadPlace, type SavedFrame } from './saved-frames.ts'

/** Something that is wrong with a saved frame, or with its place among the others. */
export interface SavedFault {
  readonly line: number
  readonly id?: string
  readonly node_seq?: number
  readonly fault: FrameFault | BadPlace['fault'] | 'gap' | 'reordered'
  /** Goes on from "line 7". */
  readonly sentence: string
}

export interface SavedReport {
  readonly frames: number
  readonly faults: number
  /** The first ones. */
  readonly listed: readonly SavedFault[]
  /** By node: the first and last number of genuine events. */
  readonly nodes: readonly { readonly node_id: string; readonly first: number; readonly last: number }[]
}

/** Faults listed at most; all are counted. */
export const LISTED_MAX = 100
/** Nodes in one file at most: the order of each is followed. */
const NODES_MAX = 100_000

const BAD_PLACES: Readonly<Record<BadPlace['fault'], string>> = {
  malformed: 'is no frame, and no line of one',
  truncated: 'begins a frame that the end of the file cuts short',
}

/** Verifies saved frames: each for itself, and the events of each node by their order. */
export async function verifySaved(
  lines: AsyncIterable<string> | Iterable<string>,
  verify: EnvelopeVerifier,
): Promise<SavedReport> {
  const saved = createSavedFrames()
  const verifiers = new Map<string, FrameVerifier>()
  const nodes = new Map<string, { first: number; last: number }>()
  const listed: SavedFault[] = []
  let [frames, faults] = [0, 0]

  const blame = (fault: SavedFault): void => {
    faults += 1
    if (listed.length < LISTED_MAX) listed.push(fault)
  }

  function verifierOf(nodeId: string): FrameVerifier {
    const known = verifiers.get(nodeId)
    if (known !== undefined) return known
    const verifier = createFrameVerifier({ verify })
    if (verifiers.size < NODES_MAX) verifiers.set(nodeId, verifier)
    return verifier
  }

  function count(verification: FrameVerification): void {
    if (!verification.ok) return
    const { node_id, node_seq } = verification.envelope
    const seen = nodes.get(node_id)
    if (seen === undefined) nodes.set(node_id, { first: node_seq, last: node_seq })
    else seen.last = Math.max(seen.last, node_seq)
  }

  async function take(place: SavedFrame | BadPlace): Promise<void> {
    const { line } = place
    if ('fault' in place) return blame({ line, fault: place.fault, sentence: BAD_PLACES[place.fault] })
    frames += 1
    const { id, data } = place.frame
    const verifier = verifierOf(claimedNode(data))
    // A file does not tell where connections began: any resync may be the first frame of one.
    verifier.connected()
    const verification = await verifier.verify(place.frame)
    count(verification)
    const sentence = sentenceOf(verification)
    if (sentence === undefined) return undefined
    const node_seq = claimedNumber(data)
    const fault = verdictOf(verification) as SavedFault['fault'] // It is one wherever there is a sentence.
    return blame({
      line,
      ...(id !== undefined && { id }),
      ...(node_seq !== undefined && { node_seq }),
      fault,
      sentence,
    })
  }

  for await (const line of lines) for (const place of saved.line(line)) await take(place)
  for (const place of saved.end()) await take(place)
  return { frames, faults, listed, nodes: [...nodes].map(([node_id, range]) => ({ node_id, ...range })) }
}

/** Only chooses whose order is followed; what is not signed by the server does not get that far. */
function claimedNode(data: string): string {
  return /"node_id":"([\w-]{1,64})"/.exec(data)?.[1] ?? ''
}
