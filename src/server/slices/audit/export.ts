import { chainOf } from '../../../shared/audit/chain.ts'
import type { SignedPosition } from '../../../shared/audit/signed-position.ts'
import type { audit } from '../../../shared/contract/audit.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { problem } from '../../../shared/problems.ts'
import type { Db } from '../../ports/datastore.ts'
import {
  firstHeadFrom,
  lastHeadUntil,
  newestHead,
  readChain,
  readHeads,
  readSealed,
  type ChainState,
} from './chain-store.ts'
import type { Period } from './period.ts'
import { startAfter, startOf, type Start } from './start.ts'

type Export = Result<(typeof audit)['operations']['GetAuditExport']>

/** Which rows of which chain (null: the platform's) to export. */
export interface ExportAsked extends Period {
  readonly domainId: string | null
  /** Resumes here; the start by `since` when absent. */
  readonly fromSeq: number | undefined
  /** Ends here; the end by `until` when absent. */
  readonly throughSeq: number | undefined
  readonly count: number
}

/**
 * Reads one page of a chain with its hashes and signed heads. It never goes beyond the newest signed head: all rows that it
 * returns can be verified.
 * @throws Problem `invalid_audit_filter` where `fromSeq` is beyond the next row.
 */
export async function exportPage(db: Db, asked: ExportAsked): Promise<Export> {
  const { domainId, count } = asked
  const state = await readChain(db, domainId)
  const start = await beginning(db, state, asked)
  const through = Math.max(start.seq, await endOf(db, state, asked))
  const chainId = state?.id ?? 0
  const items = await readSealed(db, { chainId, after: start.seq, through, count })
  const last = items.at(-1)?.seq ?? start.seq
  const heads = await readHeads(db, { chainId, after: start.seq, through: last, count })
  return {
    chain: chainOf(domainId),
    start,
    items,
    heads,
    through_seq: through,
    next_seq: items.length > 0 && last < through ? last + 1 : null,
  }
}

async function beginning(db: Db, chain: ChainState | undefined, { fromSeq, since }: ExportAsked): Promise<Start> {
  if (fromSeq === undefined && since !== undefined && chain !== undefined) {
    const head = await lastHeadUntil(db, chain.id, since)
    if (head !== undefined && head.seq > chain.checkpointSeq) return startAfter('head', head)
  }
  const start = await startOf(db, chain, fromSeq)
  if (start === undefined) throw problem('invalid_audit_filter')
  return start
}

async function endOf(db: Db, chain: ChainState | undefined, { throughSeq, until }: ExportAsked): Promise<number> {
  if (chain === undefined) return 0
  const newest = (await newestHead(db, chain.id))?.seq ?? 0
  if (throughSeq !== undefined) return Math.min(throughSeq, newest)
  const last: SignedPosition | undefined = until && (await firstHeadFrom(db, chain.id, until))
  return last?.seq ?? newest
}
