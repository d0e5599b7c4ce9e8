import type { ChainPosition, SealedDecision, Sha256 } from './chain.ts'
import { signatureFault, type SignatureKey, type PositionKind, type SignedPosition } from './signed-position.ts'
import { createChainVerifier, type ChainFault, type ChainReport, type ChainVerifier } from './verifier.ts'

/** The first line of an export names this; other formats are refused. */
export const EXPORT_FORMAT = 'ctl-audit-export/1'

/** Where the rows of an export begin: at the first row of the chain, or after a position that the server signed. */
export interface ExportStart extends ChainPosition {
  readonly signed: (Omit<SignedPosition, 'seq' | 'hash'> & { readonly kind: PositionKind }) | null
}

/**
 * A line of an export, as JSON: first the header, then rows in the order of their chain, each signed head right after the
 * row that it covers, last the end. It has no keys: a verifier must get them from elsewhere.
 */
export type ExportLine =
  | { readonly type: 'header'; readonly format: string; readonly chain: string; readonly start: ExportStart }
  | ({ readonly type: 'row' } & SealedDecision)
  | ({ readonly type: 'head' } & SignedPosition)
  | ({ readonly type: 'end'; readonly rows: number } & ChainPosition)

/** The faults of an export: those of a chain, a row that no signed head covers, or an invalid line. */
export type ExportFault = ChainFault | 'not_signed' | 'malformed'

export interface BadLine {
  /** From 1; the number after the last line where lines are missing at the end. */
  readonly line: number
  readonly seq: number
  readonly id?: string
  readonly reason: ExportFault
}

export interface ExportReport extends Omit<ChainReport, 'firstBad'> {
  /** Empty where not even the header could be read. */
  readonly chain: string
  /** When the last head was signed; undefined where there is none. */
  readonly signedAt: string | undefined
  readonly firstBad: BadLine | undefined
}

/** Takes the lines of an export, one after the other. */
export interface ExportVerifier {
  /** Takes the next line; false after a fault. */
  line(text: string): Promise<boolean>
  end(): ExportReport
}

const MEMBERS: Readonly<Record<ExportLine['type'], string>> = {
  header: 'chain,format,start,type',
  row: 'at,context,correlation_id,domain_id,hash,id,object,outcome,reason,relation,seq,subject,type',
  head: 'at,hash,kid,seq,signature,type',
  end: 'hash,rows,seq,type',
}

/**
 * Creates a verifier of exports, which needs only the public keys. It is stricter than the verification of a growing chain: the
 * start must be signed or the very first, a signed head must cover every row, and the end must be present. A member that
 * no hash covers is refused. It cannot detect that the file ends with an older head than the newest one.
 */
export function createExportVerifier(deps: {
  readonly sha256: Sha256
  readonly keys: readonly SignatureKey[]
}): ExportVerifier {
  let lines = 0
  let chain = ''
  let verifier: ChainVerifier | undefined
  let ended = false
  let signedAt: string | undefined
  let firstBad: BadLine | undefined

  function blame(bad: Omit<BadLine, 'line'>): boolean {
    firstBad ??= { line: lines, ...bad }
    return false
  }

  const seq = (): number => verifier?.report().verified.seq ?? 0
  const malformed = (): boolean => blame({ seq: seq() + 1, reason: 'malformed' })

  async function begin({ format, chain: named, start }: Extract<ExportLine, { type: 'header' }>): Promise<boolean> {
    if (format !== EXPORT_FORMAT || !isStart(start)) return malformed()
    chain = named
    verifier = createChainVerifier({ ...deps, chain, start })
    const reason = await startFault(named, start, deps.keys)
    return reason === undefined || blame({ seq: start.seq, reason })
  }

  async function take(line: Exclude<ExportLine, { type: 'header' }>, chained: ChainVerifier): Promise<boolean> {
    if (line.type === 'row') return chained.row(line) || blameChain(chained.report())
    if (line.type === 'head') {
      signedAt = line.at
      return (await chained.head(line)) || blameChain(chained.report())
    }
    ended = true
    const report = chained.end(line)
    if (report.firstBad !== undefined) return blameChain(report)
    if (line.rows !== report.rows) return malformed()
    if (report.rows > 0 && report.signedThrough !== report.verified.seq)
      return blame({ seq: (report.signedThrough ?? report.verified.seq - report.rows) + 1, reason: 'not_signed' })
    return true
  }

  function blameChain({ firstBad: bad }: ChainReport): boolean {
    return bad === undefined ? malformed() : blame(bad)
  }

  return {
    async line(text) {
      if (firstBad !== undefined) return false
      lines += 1
      const line = parsed(text)
      if (line === undefined || ended) return malformed()
      if (line.type === 'header') return verifier === undefined ? begin(line) : malformed()
      return verifier === undefined ? malformed() : take(line, verifier)
    },
    end() {
      lines += 1
      if (!ended) blame({ seq: seq() + 1, reason: verifier === undefined ? 'malformed' : 'rows_cut_off' })
      const report = verifier?.report() ?? EMPTY
      return { ...report, chain, signedAt, firstBad }
    },
  }
}

const EMPTY: ChainReport = {
  verified: { seq: 0, hash: '' },
  rows: 0,
  signedThrough: undefined,
  headsVerified: 0,
  headsUnknown: 0,
  firstBad: undefined,
}

/** Only the types that decide what is read are checked: a member of the wrong type matches no hash and no signature. */
function parsed(text: string): ExportLine | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || !('type' in value)) return undefined
  const members = Object.keys(value).toSorted().join(',')
  const isKnown = typeof value.type === 'string' && MEMBERS[value.type as ExportLine['type']] === members
  const hasSeq = !('seq' in value) || Number.isSafeInteger(value.seq)
  // The `type` of the line determines its members.
  return isKnown && hasSeq && hasTexts(value) ? (value as ExportLine) : undefined
}

function hasTexts(value: object): boolean {
  return ['chain', 'hash', 'at', 'id', 'kid', 'signature'].every(
    (member) => !(member in value) || typeof value[member as keyof typeof value] === 'string',
  )
}

function isStart(start: unknown): start is ExportStart {
  if (typeof start !== 'object' || start === null) return false
  const { seq, hash, signed } = start as Partial<Record<string, unknown>>
  if (!Number.isSafeInteger(seq) || typeof hash !== 'string') return false
  return signed === null || (typeof signed === 'object' && signed !== null && 'kind' in signed && hasTexts(signed))
}

async function startFault(
  chain: string,
  { seq, hash, signed }: ExportStart,
  keys: readonly SignatureKey[],
): Promise<ExportFault | undefined> {
  if (signed !== null) return signatureFault({ kind: signed.kind, chain }, { seq, hash, ...signed }, keys)
  return seq === 0 && /^0{64}$/.test(hash) ? undefined : 'not_signed'
}
