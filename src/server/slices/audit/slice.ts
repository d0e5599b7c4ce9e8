import type { Slice } from '../../http/slice.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Signer } from '../../ports/signer.ts'
import { createAuditRetention } from './retention.ts'
import { createAuditSealer } from './sealer.ts'
import { createAudit } from './service.ts'
import { sha256 } from './sha256.ts'

/** Rows sealed in one transaction: a few milliseconds of this process, and on the embedded datastore of its one session. */
const SEAL_ROWS = 250

export interface AuditPorts {
  readonly datastore: Datastore
  readonly signer: Signer
  readonly clock: Clock
  readonly ids: IdSource
  /** Retention of the platform's chain and of chains whose Domain is gone, in days. */
  readonly retentionDays: number
}

/** The audit trail: reading, verification, sealing and retention. */
export function createSlice({ datastore, signer, clock, ids, retentionDays }: AuditPorts): Slice<'audit'> {
  return {
    handlers: { audit: createAudit({ datastore, signer }) },
    jobs: [
      createAuditSealer({ signer, clock, ids, sha256, batchRows: SEAL_ROWS }),
      createAuditRetention({ signer, clock, platformDays: retentionDays }),
    ],
  }
}
