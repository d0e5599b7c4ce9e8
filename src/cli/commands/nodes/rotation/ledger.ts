import type { FleetNode } from '../fleet-node.ts'
import type { FleetView } from '../fleet-view.ts'
import { ZERO, type Counts } from './counts.ts'
import { outcomeOf, type Outcome, type RunSoFar } from './wave-plan.ts'

export interface RotatedNode {
  /** As last seen. */
  readonly node: FleetNode
  readonly outcome: Outcome
  /** Code of the refusal. */
  readonly code: string | undefined
  /** Whether this run asked for the rotation, or found it pending. */
  readonly isBegun: boolean
}

/** What a run has done so far, as it grows. */
export interface Ledger {
  soFar(): RunSoFar
  waves(): number
  beginWave(): void
  begun(id: string, nowMs: number): void
  refused(id: string, code: string): void
  /** The wave that is open, if one is, has ended. */
  settled(nowMs: number): void
  /** Somebody goes on in spite of these counts. */
  agree(counts: Counts): void
  /** Nodes that are rotated now. */
  rotated(): number
  outcomes(): { readonly waves: number; readonly nodes: readonly RotatedNode[] }
}

export function createLedger(view: FleetView, start: Pick<RunSoFar, 'since' | 'startedMs'>): Ledger {
  const issuedBefore = new Map([...view.all()].map(([id, node]) => [id, node?.psk_issued_at ?? '']))
  const begunMs = new Map<string, number>()
  const refusals = new Map<string, string>()
  let settledMs: number | undefined
  let agreedTo: Counts = ZERO
  let waves = 0
  let isWaveOpen = false
  const soFar = (): RunSoFar => ({ ...start, issuedBefore, begunMs, refused: refusals, settledMs, agreedTo })
  const outcome = (id: string): Outcome => outcomeOf(id, view.node(id), soFar())
  return {
    soFar,
    waves: () => waves,
    beginWave() {
      waves += 1
      isWaveOpen = true
    },
    begun: (id, nowMs) => void begunMs.set(id, nowMs),
    refused: (id, code) => void refusals.set(id, code),
    settled(nowMs) {
      if (isWaveOpen) settledMs = nowMs
      isWaveOpen = false
    },
    agree(counts) {
      agreedTo = counts
    },
    rotated: () => view.ids.filter((id) => outcome(id) === 'rotated').length,
    outcomes: () => ({
      waves,
      nodes: view.ids.flatMap((id) => {
        const node = view.last(id)
        return node === undefined
          ? []
          : [{ node, outcome: outcome(id), code: refusals.get(id), isBegun: begunMs.has(id) }]
      }),
    }),
  }
}
