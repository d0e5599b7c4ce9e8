import { chainOf, CHAIN_START } from '../../../shared/audit/chain.ts'
import { signatureFault, type SignatureKey } from '../../../shared/audit/signed-position.ts'
import {
  createChainVerifier,
  follow,
  type BadRow,
  type ChainReport,
  type ChainVerifier,
} from '../../../shared/audit/verifier.ts'
import type { audit } from '../../../shared/contract/audit.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { Db } from '../../ports/datastore.ts'
import type { Signer, VerificationKey } from '../../ports/signer.ts'
import { countUnsealed, readChain, readHeads, readSealed, type ChainState } from './chain-store.ts'
import { sha256 } from './sha256.ts'
import { startOf, type Start } from './start.ts'

type Verification = Result<(typeof audit)['operations']['GetAuditVerify']>

export interface VerificationDeps {
  readonly db: Db
  readonly signer: Pick<Signer, 'keys' | 'expired'>
}

/** Which rows to verify: of a Domain's chain (null: the platform's), from a number on. */
export interface Asked {
  readonly domainId: string | null
  readonly fromSeq: number | undefined
}

/** Bounds of one call; the first one reached ends it. */
const ROWS_MAX = 5_000
const DEADLINE_MS = 2_000
const PAGE_ROWS = 500
/** A checkpoint may be made while its rows are read; then verification restarts after it. */
const TRIES_MAX = 3

/**
 * Verifies a range of a chain as it is stored, bounded in rows and time.
 * @throws Problem `invalid_audit_filter` where `fromSeq` is beyond the next row.
 */
export async function verifyChain(deps: VerificationDeps, asked: Asked): Promise<Verification> {
  for (let attempt = 1; ; attempt++) {
    const chain = await readChain(deps.db, asked.domainId)
    const looked = await lookAt(deps, asked, chain)
    if (looked.report.firstBad === undefined || attempt === TRIES_MAX) return answerOf(deps, asked, looked)
    const now = await readChain(deps.db, asked.domainId)
    if (now?.checkpointSeq === chain?.checkpointSeq) return answerOf(deps, asked, looked)
  }
}

/** A verified range. */
interface Looked {
  readonly start: Start
  readonly report: ChainReport
  readonly sealedThrough: number
}

async function lookAt(
  { db, signer }: VerificationDeps,
  { domainId, fromSeq }: Asked,
  chain: ChainState | undefined,
): Promise<Looked> {
  const found = await startOf(db, chain, fromSeq)
  const start = found ?? { ...CHAIN_START, signed: null }
  const keys = [...signer.keys(), ...(await signer.expired())].map(keyOf)
  const verifier = createChainVerifier({ chain: chainOf(domainId), start, sha256, keys })
  const sealedThrough = chain?.sealed.seq ?? 0
  const bad = found === undefined ? lostStart(fromSeq, chain) : await badStart(chainOf(domainId), found, keys)
  if (bad !== undefined) return { start, report: { ...verifier.report(), firstBad: bad }, sealedThrough }
  const report = chain === undefined ? verifier.report() : await walk(db, chain, verifier)
  return { start, report, sealedThrough }
}

function lostStart(fromSeq = 1, chain: ChainState | undefined): BadRow {
  return { seq: Math.max(fromSeq - 1, chain?.checkpointSeq ?? 0), reason: 'row_missing' }
}

/** A checkpoint signed by a key that is no longer published is trusted only through the heads after it. */
async function badStart(
  chain: string,
  { signed, ...place }: Start,
  keys: readonly SignatureKey[],
): Promise<BadRow | undefined> {
  if (signed === null) return undefined
  const reason = await signatureFault({ kind: signed.kind, chain }, { ...place, ...signed }, keys)
  return reason === undefined || reason === 'unknown_key' ? undefined : { seq: place.seq, reason }
}

async function walk(db: Db, chain: ChainState, verifier: ChainVerifier): Promise<ChainReport> {
  const giveUpAt = performance.now() + DEADLINE_MS
  for (let report = verifier.report(); ; report = verifier.report()) {
    const { seq: after } = report.verified
    if (report.firstBad !== undefined) return report
    if (after >= chain.sealed.seq) return endOf(verifier, chain)
    if (report.rows >= ROWS_MAX || performance.now() > giveUpAt) return report
    const stretch = { chainId: chain.id, after, count: PAGE_ROWS }
    const rows = await readSealed(db, { ...stretch, through: chain.sealed.seq })
    const last = rows.at(-1)
    if (last === undefined) return endOf(verifier, chain)
    await follow(verifier, rows, await readHeads(db, { ...stretch, through: last.seq }))
  }
}

function endOf(verifier: ChainVerifier, { sealed, strayHeadSeq }: ChainState): ChainReport {
  const report = verifier.end(sealed)
  if (strayHeadSeq === undefined || report.firstBad !== undefined) return report
  return { ...report, firstBad: { seq: sealed.seq + 1, reason: 'rows_cut_off' } }
}

async function answerOf({ db }: VerificationDeps, { domainId }: Asked, looked: Looked): Promise<Verification> {
  const { start, report, sealedThrough } = looked
  const { verified, firstBad, signedThrough } = report
  const isWhole = firstBad !== undefined || verified.seq >= sealedThrough
  return {
    chain: chainOf(domainId),
    verdict: firstBad === undefined ? 'intact' : 'broken',
    start,
    rows: report.rows,
    verified_through: verified.seq,
    verified_hash: verified.hash,
    signed_through: signedThrough ?? null,
    heads_verified: report.headsVerified,
    heads_unknown: report.headsUnknown,
    sealed_through: sealedThrough,
    unsealed: await countUnsealed(db, domainId),
    first_bad: firstBad === undefined ? null : { seq: firstBad.seq, id: firstBad.id ?? null, reason: firstBad.reason },
    next_seq: isWhole ? null : verified.seq + 1,
  }
}

function keyOf({ kid, publicKey, notBefore, notAfter }: VerificationKey): SignatureKey {
  return { kid, publicKey, notBeforeMs: notBefore.getTime(), notAfterMs: notAfter?.getTime() }
}
