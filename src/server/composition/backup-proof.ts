import { createEmbeddedAuthorizer } from '../adapters/embedded-authz/authorizer.ts'
import { openRing } from '../adapters/keyring/open-keyring.ts'
import { masterKeyOf, readMasterKey, readNextKey } from '../adapters/keyring/master-key.ts'
import { createSealing } from '../adapters/keyring/ring.ts'
import { storedRows, unwrapKey, type KeyringRow } from '../adapters/keyring/stored-ring.ts'
import { createBackupSchema } from '../adapters/postgres/backup-schema.ts'
import { createChangeFeed } from '../adapters/postgres/change-feed.ts'
import { readExpired, readKeys } from '../adapters/signing-keys/key-store.ts'
import { systemClock } from '../adapters/system/clock.ts'
import type { BackupProof, ComparedTuples, OpenedRing } from '../ports/backup-proof.ts'
import { BootError } from '../ports/boot-error.ts'
import type { Datastore } from '../ports/datastore.ts'
import type { SealingKey } from '../ports/keyring.ts'
import type { MasterKeys } from '../ports/master-keys.ts'
import { RESTORE_STATEMENT_MS } from '../ports/restore-target.ts'
import type { VerificationKey } from '../ports/signer.ts'
import { verifyChain } from '../slices/audit/verification.ts'

/** The master keys of the configuration and of a backup. */
export const masterKeys: MasterKeys = { keyOf: masterKeyOf, read: readMasterKey, readNext: readNextKey }

/** The server's own parts, as a verification of a backup uses them. `schema`: another one in tests. */
export function createBackupProof(schema = createBackupSchema()): BackupProof {
  return {
    schema,
    async openScratch(directory, warn) {
      const { openPglite } = await import('../adapters/pglite/database.ts')
      const engine = { isScratch: true, isForeground: true }
      return openPglite({ dataDir: directory, warn, statementDeadlinesMs: { bulk: RESTORE_STATEMENT_MS }, engine })
    },
    async chainVerifier(datastore) {
      const keys = await publishedKeys(datastore)
      const deps = { db: datastore.pool('bulk'), signer: { keys: () => keys, expired: async () => [] } }
      return (part) => verifyChain(deps, part)
    },
    compareTuples,
    openRing: openedRing,
  }
}

async function publishedKeys(datastore: Datastore): Promise<readonly VerificationKey[]> {
  const db = datastore.pool('bulk')
  const now = new Date()
  const kept = await readKeys(db, now)
  const publicHalves = [...kept.map((key) => key.public), ...(await readExpired(db, now))]
  return publicHalves.map((key) => ({ ...key, state: 'current' }))
}

async function compareTuples(datastore: Datastore): Promise<ComparedTuples> {
  // A scratch datastore has no operator: what matters is in the numbers.
  const warn = (): void => undefined
  const changeFeed = createChangeFeed({ datastore, warn })
  const authorizer = createEmbeddedAuthorizer({ datastore, changeFeed, warn })
  try {
    await changeFeed.start()
    const { checked, unresolved } = await authorizer.reconciler.reconcile()
    return { checked, unresolved, unknown: authorizer.stats().unknownTuples }
  } finally {
    changeFeed.stop()
  }
}

async function openedRing(datastore: Datastore, master: SealingKey): Promise<OpenedRing> {
  const rows = await storedRows(datastore.pool('bulk'))
  const shut = rows.filter((row) => !opens(master, row)).map(({ key_id: id }) => id)
  const sealing = shut.length > 0 ? undefined : createSealing(await openRing(datastore, master, systemClock))
  return { keys: rows.length, shut, sealing }
}

function opens(master: SealingKey, row: KeyringRow): boolean {
  try {
    unwrapKey(master, row).fill(0)
    return true
  } catch (error) {
    if (error instanceof BootError) return false
    throw error
  }
}
