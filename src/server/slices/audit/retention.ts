import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob, Leading } from '../../ports/leadership.ts'
import type { Signer } from '../../ports/signer.ts'
import { addSigned } from './head-store.ts'
import { cuttablePlaces, noteCheckpoint, prunableChain, pruneThrough } from './retention-store.ts'
import { signPositions } from './sign-position.ts'

export interface RetentionDeps {
  readonly signer: Signer
  readonly clock: Clock
  /** For the platform's chain, and those of deleted Domains. */
  readonly platformDays: number
}

const RETAIN_EVERY_MS = 3_600_000
/** Rows deleted in one transaction. */
const PRUNE_ROWS = 1_000

/**
 * Deletes rows that are older than their Domain's retention. First a signed checkpoint at the cut, then the rows before
 * it, a thousand a pass: a caller that reads the chain meanwhile begins at the checkpoint. Rows without a seal are never
 * deleted.
 */
export function createAuditRetention(deps: RetentionDeps): LeaderJob {
  return {
    name: 'audit-retention',
    everyMs: RETAIN_EVERY_MS,
    async run(leading) {
      return (await leading.transaction(prune)) || (await checkpoint(leading, deps))
    },
  }
}

async function prune(tx: Parameters<typeof prunableChain>[0]): Promise<boolean> {
  const chain = await prunableChain(tx)
  if (chain === undefined) return false
  await pruneThrough(tx, chain, Math.min(chain.prunedSeq + PRUNE_ROWS, chain.checkpointSeq))
  return true
}

/** Signs checkpoints where rows have passed their retention. Resolves with whether there were any. */
async function checkpoint(leading: Leading, { signer, clock, platformDays }: RetentionDeps): Promise<boolean> {
  const nowMs = clock.now()
  const cuts = await leading.transaction((tx) => cuttablePlaces(tx, { now: new Date(nowMs), platformDays }))
  if (cuts.length === 0) return false
  const positions = cuts.map((cut) => ({ ...cut, atMs: nowMs }))
  const signed = await signPositions(signer, 'checkpoint', positions)
  await leading.transaction(async (tx) => {
    await addSigned(tx, 'checkpoint', signed)
    for (const place of signed) await noteCheckpoint(tx, place)
  })
  return true
}
