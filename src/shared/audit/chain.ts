import { canonicalize } from '../canonical-json.ts'

/** An audited decision as the API shows it. */
export interface AuditedDecision {
  readonly id: string
  /** RFC 3339, UTC, milliseconds. */
  readonly at: string
  readonly domain_id: string | null
  readonly subject: string
  readonly relation: string
  readonly object: string
  readonly outcome: string
  readonly reason: string
  readonly correlation_id: string
  readonly context: Readonly<Record<string, unknown>>
}

/** A decision with its position in its chain. */
export interface SealedDecision extends AuditedDecision {
  /** From 1, without gaps. */
  readonly seq: number
  /** 64 hex digits. */
  readonly hash: string
}

/** A position in a chain: the hash of its row covers every row up to it. */
export interface ChainPosition {
  readonly seq: number
  readonly hash: string
}

/** SHA-256 of the text as UTF-8, in hex. Injected, since every platform has its own fast implementation. */
export type Sha256 = (text: string) => string

/** The position before the first row. */
export const CHAIN_START: ChainPosition = { seq: 0, hash: '0'.repeat(64) }

/** `platform:main`, or the Domain's reference: there is one chain for each. */
export function chainOf(domainId: string | null): string {
  return domainId === null ? 'platform:main' : `domain:${domainId}`
}

/**
 * The hash of a row that follows `previous`: SHA-256 over the canonical JSON (RFC 8785) of its ten members and of `seq` and
 * `previous`, the hash of the row before.
 */
export function sealHash(sha256: Sha256, previous: ChainPosition, row: AuditedDecision): string {
  return sha256(
    canonicalize({
      id: row.id,
      at: row.at,
      domain_id: row.domain_id,
      subject: row.subject,
      relation: row.relation,
      object: row.object,
      outcome: row.outcome,
      reason: row.reason,
      correlation_id: row.correlation_id,
      context: row.context,
      seq: previous.seq + 1,
      previous: previous.hash,
    }),
  )
}
