import type { Generated } from 'kysely'

export interface AuditChainRow {
  id: Generated<number>
  /** Null for the platform's chain. */
  domain_id: string | null
  /** The last row sealed; 0 before the first. */
  sealed_seq: string
  /** 32 bytes. */
  sealed_hash: Buffer
  /** The last head signed; 0 before the first. */
  signed_seq: string
  signed_at: Date | null
  /** The newest checkpoint, where a look at the chain begins; 0 before the first. */
  checkpoint_seq: string
  /** Rows up to this one are gone. */
  pruned_seq: string
}

export interface AuditHeadRow {
  chain_id: number
  kind: 'head' | 'checkpoint'
  seq: string
  hash: Buffer
  at: Date
  kid: string
  /** 64 bytes. */
  signature: Buffer
}

/** The place of an audit row in its chain. */
interface AuditSealRow {
  chain_id: number
  seq: string
  audit_id: string
  /** 32 bytes. */
  hash: Buffer
}

/** Rows of one chain that wait for their seal; a trigger of `audit` adds them. */
interface AuditUnsealedRow {
  id: Generated<string>
  domain_id: string | null
  row_count: number
  audit_ids: string[]
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    audit_chains: AuditChainRow
    audit_heads: AuditHeadRow
    audit_seals: AuditSealRow
    audit_unsealed: AuditUnsealedRow
  }
}
