import { chainOf, sealHash, type ChainPlace, type SealedDecision, type Sha256 } from './chain.ts'
import { signatureFault, type PlaceKey, type SignatureFault, type SignedPlace } from './signed-place.ts'

/** What can be wrong with a chain. */
export type ChainFault =
  /** A number is not there: its row was taken away. */
  | 'row_missing'
  /** A number comes after a higher one, or twice. */
  | 'out_of_order'
  /** A row of another chain. */
  | 'foreign_row'
  /** A member of the row, or its place, is not what was sealed. */
  | 'row_altered'
  /** The rows up to here fit each other, but they are not those that were signed. */
  | 'head_mismatch'
  /** There was more: the end of the chain was taken away. */
  | 'rows_cut_off'
  | SignatureFault

/** The first thing that is wrong. */
export interface BadRow {
  readonly seq: number
  /** Absent where no row is there, or no row alone is to blame. */
  readonly id?: string
  readonly reason: ChainFault
}

/** How far a chain was found good. */
export interface ChainReport {
  /** The last row whose hash was recomputed and fits; where the verification began when there was none. */
  readonly verified: ChainPlace
  /** Rows looked at. */
  readonly rows: number
  /** The last head whose signature holds over the rows seen; undefined when there was none. */
  readonly signedThrough: number | undefined
  readonly headsVerified: number
  /** Heads of keys that are not in the set. A later head that verifies covers their rows as well. */
  readonly headsUnknown: number
  readonly firstBad: BadRow | undefined
}

export interface ChainVerifierDeps {
  /** As `chainOf` names it. */
  readonly chain: string
  /** Where to begin; its hash is taken at its word. */
  readonly start: ChainPlace
  readonly sha256: Sha256
  readonly keys: readonly PlaceKey[]
}

/** Follows one chain row by row. After the first fault it takes nothing more. */
export interface ChainVerifier {
  /** Takes the next row; false once something is wrong. */
  row(row: SealedDecision): boolean
  /** Takes a head over the last row taken. Heads come between rows, in their order. */
  head(head: SignedPlace): Promise<boolean>
  /** Takes the end of what was to be looked at: its last place, and that a known key vouches for the newest head of it. */
  end(last: ChainPlace): ChainReport
  report(): ChainReport
}

/**
 * Makes a verifier. Pure: it runs wherever there is a SHA-256 and WebCrypto. It shows that rows are those that the server
 * sealed and signed; it cannot show that a server, or anyone who has its keys, sealed the truth.
 */
export function createChainVerifier({ chain, start, sha256, keys }: ChainVerifierDeps): ChainVerifier {
  let verified = start
  let rows = 0
  let signedThrough: number | undefined
  let headsVerified = 0
  let unknown: SignedPlace | undefined
  let headsUnknown = 0
  let firstBad: BadRow | undefined

  function faultOf(row: SealedDecision): ChainFault | undefined {
    if (row.seq <= verified.seq) return 'out_of_order'
    if (row.seq > verified.seq + 1) return 'row_missing'
    if (chainOf(row.domain_id) !== chain) return 'foreign_row'
    return fits(row) ? undefined : 'row_altered'
  }

  /** What has no canonical form was never sealed. */
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

  function takeSignature(head: SignedPlace, fault: SignatureFault | undefined): boolean {
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

/** Has a verifier take rows and the heads among them, both in the order of the chain; false once something is wrong. */
export async function follow(
  verifier: Pick<ChainVerifier, 'row' | 'head'>,
  rows: readonly SealedDecision[],
  heads: readonly SignedPlace[],
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
