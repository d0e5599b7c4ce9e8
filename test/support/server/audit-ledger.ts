import { masterKeyOf } from '../../../src/server/adapters/keyring/master-key.ts'
import { openRing } from '../../../src/server/adapters/keyring/open-keyring.ts'
import { createSealing } from '../../../src/server/adapters/keyring/ring.ts'
import { createAuditSink } from '../../../src/server/adapters/postgres/audit-sink.ts'
import { openSigner } from './sealed-signer.ts'
import { createUuidV7 } from '../../../src/server/adapters/system/uuid-v7.ts'
import { createAuditRetention } from '../../../src/server/slices/audit/retention.ts'
import { createAuditSealer } from '../../../src/server/slices/audit/sealer.ts'
import { verifyChain } from '../../../src/server/slices/audit/verification.ts'
import type { Datastore, Db } from '../../../src/server/ports/datastore.ts'
import type { LeaderJob, Leading } from '../../../src/server/ports/leadership.ts'
import type { Signer } from '../../../src/server/ports/signer.ts'
import type { AuditEntry } from '../../../src/server/ports/unit-of-work.ts'
import { nodeSha256 } from './audit-chain.ts'
import { emptyTables } from '../datastores/empty-tables.ts'
import { unfenced } from '../datastores/leading.ts'

export const LEDGER_START_MS = Date.parse('2026-03-01T08:00:00.000Z')
export const ACME = '01935b5e-0000-7000-8000-0000000000ac'
export const GLOBEX = '01935b5e-0000-7000-8000-0000000000be'

/** Audit rows, their sealer and their retention over a real datastore, at a time that stands still. */
export interface Ledger {
  readonly db: Db
  readonly clock: { nowMs: number; now(): number }
  readonly signer: Signer
  readonly sealer: LeaderJob
  readonly retention: LeaderJob
  /** Leads without a term. */
  readonly leading: Leading
  /** Writes so many rows of a Domain (null: of the platform) in one statement. */
  write(domainId: string | null, count: number, atMs?: number): Promise<void>
  /** Runs a job until it has nothing more to do. */
  settle(job: LeaderJob): Promise<void>
  verify(domainId: string | null, fromSeq?: number): ReturnType<typeof verifyChain>
}

/** A row as the edge would leave it. */
export function auditEntry(domainId: string | null): AuditEntry {
  return {
    domainId,
    subject: 'user:01935b5e-0000-7000-8000-000000000002',
    relation: 'node.list',
    object: 'platform:main',
    outcome: 'granted',
    reason: 'granted',
    correlationId: 'c-1',
    context: { item_count: 3, note: 'Zürich "x"', flags: { b: true, a: null } },
  }
}

export async function openLedger(datastore: Datastore): Promise<Ledger> {
  await emptyTables(datastore)
  const clock = { nowMs: LEDGER_START_MS, now: () => clock.nowMs }
  const ids = createUuidV7(clock)
  const sealing = createSealing(await openRing(datastore, masterKeyOf(Buffer.alloc(32, 7)), clock))
  const signer = await openSigner({ datastore, sealing, clock })
  const deps = { signer, clock, ids, sha256: nodeSha256, batchRows: 2_000 }
  const leading = leadingOver(datastore)
  const sink = createAuditSink(datastore)
  const db = datastore.pool('interactive')
  return {
    db,
    clock,
    signer,
    leading,
    sealer: createAuditSealer(deps),
    retention: createAuditRetention({ ...deps, platformDays: 400 }),
    write: (domainId, count, atMs = clock.nowMs) =>
      sink.write(Array.from({ length: count }, () => ({ ...auditEntry(domainId), id: ids.next(), atMs }))),
    async settle(job) {
      while (await job.run(leading));
    },
    verify: (domainId, fromSeq) => verifyChain({ db, signer }, { domainId, fromSeq }),
  }
}

/** A leader whose term nobody disputes. */
export function leadingOver(datastore: Datastore): Leading {
  const run = () => Promise.reject(new Error('the audit jobs change nothing that is announced'))
  return unfenced({ datastore, unitOfWork: { run } })
}
