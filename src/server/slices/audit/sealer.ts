import type { LeaderJob, Leading } from '../../ports/leadership.ts'
import type { Signer } from '../../ports/signer.ts'
import { addSigned, dueChains, noteSigned, placesAt, type DueChain, type PositionOfChain } from './head-store.ts'
import { sealBatch, type SealDeps } from './seal.ts'
import { signPositions } from './sign-position.ts'

export interface SealerDeps extends SealDeps {
  readonly signer: Signer
}

/** A chain's head is signed after this many rows, and after this time since the last head (decisions: Audit). */
const HEAD_EVERY_ROWS = 1_000
const HEAD_EVERY_MS = 60_000
/** Heads of one chain signed in one pass. */
const HEADS_MAX = 10
const SEAL_EVERY_MS = 1_000

/**
 * Seals audit rows into the chain of their Domain, and signs heads of the chains. One batch a pass. What is sealed is
 * committed before it is signed, and a signature that was not stored is made again: a pass may stop anywhere.
 */
export function createAuditSealer(deps: SealerDeps): LeaderJob {
  return {
    name: 'audit-sealer',
    everyMs: SEAL_EVERY_MS,
    async run(leading) {
      const sealed = await leading.transaction((tx) => sealBatch(tx, deps))
      const isBehind = await signHeads(leading, deps)
      return sealed >= deps.batchRows || isBehind
    },
  }
}

/** Signs the heads that are due. Resolves with whether more are due. */
async function signHeads(leading: Leading, { signer, clock }: SealerDeps): Promise<boolean> {
  const nowMs = clock.now()
  const due = await leading.transaction(async (tx) => {
    const chains = await dueChains(tx, HEAD_EVERY_ROWS, new Date(nowMs - HEAD_EVERY_MS))
    const places: Due[] = []
    for (const chain of chains) {
      const atMs = Math.max(nowMs, chain.signedAt?.getTime() ?? 0)
      for (const place of await placesAt(tx, chain, dueSeqs(chain, nowMs))) places.push({ ...place, atMs })
    }
    return places
  })
  if (due.length === 0) return false
  const signed = await signPositions(signer, 'head', due)
  await leading.transaction(async (tx) => {
    await addSigned(tx, 'head', signed)
    for (const place of signed) await noteSigned(tx, place)
  })
  return due.length >= HEADS_MAX
}

/** The time of a chain's heads never goes back, even if the clocks of its leaders differ. */
type Due = PositionOfChain & { readonly atMs: number }

/** Every thousandth row since the last head; the last row where the time has passed. */
function dueSeqs({ sealedSeq, signedSeq, signedAt }: DueChain, nowMs: number): readonly number[] {
  const first = Math.floor(signedSeq / HEAD_EVERY_ROWS) + 1
  const marks = Math.min(HEADS_MAX, Math.floor(sealedSeq / HEAD_EVERY_ROWS) - first + 1)
  const seqs = Array.from({ length: Math.max(0, marks) }, (_, mark) => (first + mark) * HEAD_EVERY_ROWS)
  const isTime = signedAt === undefined || signedAt.getTime() <= nowMs - HEAD_EVERY_MS
  return isTime && seqs.length < HEADS_MAX && seqs.at(-1) !== sealedSeq ? [...seqs, sealedSeq] : seqs
}
