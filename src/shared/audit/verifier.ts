import { chainOf, sealHash, type ChainPosition, type SealedDecision, type Sha256 } from './chain.ts'
import { signatureFault, type SignatureKey, type SignatureFault, type SignedPosition } from './signed-position.ts'

/** The faults of a chain. */
export type ChainFault =
  /** A number is missing: its row was deleted. */
  | 'row_missing'
  /** A number comes after a higher one, or twice. */
  | 'out_of_order'
  /** A row of another chain. */
  | 'foreign_row'
  /** A member of the row, or its position, differs from the sealed one. */
  | 'row_altered'
  /** The rows up to here are consistent, but they are not those that were signed. */
  | 'head_mismatch'
  /** The end of the chain was deleted. */
  | 'rows_cut_off'
  | SignatureFault

/** The first fault. */
export interface BadRow {
  readonly seq: number
  /** Absent where the row is missing, or the fault is not in a single row. */
  readonly id?: string
  readonly reason: ChainFault
}

/** How far a chain was verified. */
export interface ChainReport {
  /** The last row whose hash was recomputed and matches; the start of the verification when there was none. */
  readonly verified: ChainPosition
  /** Rows read. */
  readonly rows: number
  /** The last head whose signature is valid for the rows read; undefined when there was none. */
  readonly signedThrough: number | undefined
  readonly headsVerified: number
  /** Heads of keys that are not in the set. A later head that verifies covers their rows as well. */
  readonly headsUnknown: number
  readonly firstBad: BadRow | undefined
}

export interface ChainVerifierDeps {
  /** As `chainOf` names it. */
  readonly chain: string
  /** Where to begin; its hash is trusted. */
  readonly start: ChainPosition
  readonly sha256: Sha256
  readonly keys: readonly SignatureKey[]
}

/** Follows one chain row by row. After the first fault it takes nothing more. */
export interface ChainVerifier {
  /** Takes the next row; false after a fault. */
  row(row: SealedDecision): boolean
  /** Takes a head over the last row taken. Heads come between rows, in their order. */
  head(head: SignedPosition): Promise<boolean>
  /** Takes the end of the verified range: its last position, and whether a known key signed its newest head. */
  end(last: ChainPosition): ChainReport
  report(): ChainReport
}

/**
 * Creates a verifier. Pure: it needs only SHA-256 and WebCrypto. It shows that rows are those that the server
 * sealed and signed; it cannot show that a server, or a holder of its keys, sealed true rows.
 */
export function createChainVerifier({ chain, start, sha256, keys }: ChainVerifierDeps): ChainVerifier {
  let verified = start
  let rows = 0
  let signedThrough: number | undefined
  let headsVerified = 0
  let unknown: SignedPosition | undefined
  let headsUnknown = 0
  let firstBad: BadRow | undefined

  function faultOf(row: SealedDecision): ChainFault | undefined {
    if (row.seq <= verified.seq) return 'out_of_order'
    if (row.seq > verified.seq + 1) return 'row_missing'
    if (chainOf(row.domain_id) !== chain) return 'foreign_row'
    return fits(row) ? undefined : 'row_altered'
  }

  /** A row without a canonical form was never sealed. */
  function fits(row: SealedDecision): boolean {
    try {
      return sealHash(sha256, verified, row) === row.hash
    } catch (error) {
      if (error instanceof TypeError) return false
      throw error
    }
  }

  function blame(bad: BadRow): false {
    firstBad ??= bad
    return false
  }

  function takeSignature(head: SignedPosition, fault: SignatureFault | undefined): boolean {
    if (fault === 'unknown_key') {
      headsUnknown += 1
      unknown = head
      return true
    }
    if (fault !== undefined) return blame({ seq: head.seq, reason: fault })
    headsVerified += 1
    signedThrough = head.seq
    return true
  }

  const report = (): ChainReport => ({ verified, rows, signedThrough, headsVerified, headsUnknown, firstBad })

  return {
    row(row) {
      if (firstBad !== undefined) return false
      rows += 1
      const reason = faultOf(row)
      if (reason === 'row_missing') return blame({ seq: verified.seq + 1, reason })
      if (reason !== undefined) return blame({ seq: row.seq, id: row.id, reason })
      verified = { seq: row.seq, hash: row.hash }
      return true
    },
    async head(head) {
      if (firstBad !== undefined) return false
      if (head.seq > verified.seq) return blame({ seq: verified.seq + 1, reason: 'row_missing' })
      if (head.seq < verified.seq || head.hash !== verified.hash) {
        return blame({ seq: head.seq, reason: 'head_mismatch' })
      }
      return takeSignature(head, await signatureFault({ kind: 'head', chain }, head, keys))
    },
    end(last) {
      if (last.seq > verified.seq) blame({ seq: verified.seq + 1, reason: 'rows_cut_off' })
      else if (last.seq < verified.seq || last.hash !== verified.hash) blame({ seq: last.seq, reason: 'head_mismatch' })
      if (unknown !== undefined && unknown.seq > (signedThrough ?? 0)) {
        blame({ seq: unknown.seq, reason: 'unknown_key' })
      }
      return report()
    },
    report,
  }
}

/** Passes rows and the heads among them to a verifier, both in the order of the chain; false after a fault. */
export async function follow(
  verifier: Pick<ChainVerifier, 'row' | 'head'>,
  rows: readonly SealedDecision[],
  heads: readonly SignedPosition[],
): Promise<boolean> {
  let next = 0
  for (const row of rows) {
    if (!verifier.row(row)) return false
    for (let head = heads[next]; head !== undefined && head.seq <= row.seq; head = heads[next]) {
      if (!(await verifier.head(head))) return false
      next += 1
    }
  }
  return true
}
