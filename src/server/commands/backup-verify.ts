import { assertSpace } from '../backup/restore/space.ts'
import { assertPassed, type CheckResult } from '../backup/verify/checks.ts'
import { keyAtHand } from '../backup/verify/key-at-hand.ts'
import { SCRATCH_FLAG, withScratch } from '../backup/verify/scratch.ts'
import { verifyBackup } from '../backup/verify/verify.ts'
import { createBackupProof, masterKeys } from '../composition/backup-proof.ts'
import { createLog } from '../composition/log.ts'
import { configOf, runAdmin, type AdminCall } from './admin.ts'
import { checkTable, isJson, OUTPUT_FLAGS } from './check-table.ts'
import { checkedBackup, openSecrets, type CheckedBackup } from './checked-backup.ts'
import { takeOwnWords, type TakenWords } from './own-words.ts'
import { PASSPHRASE_FLAG } from './passphrase.ts'

const HELP = `Proves a backup: restores it into a scratch datastore and checks what must be true of it.

Usage: ctl admin backup verify FILE [--scratch-dir DIR] [--passphrase-file FILE] [-o json] [flags of ctl serve]

It touches no datastore of a server and may run beside one. It checks the file, foreign keys, sequences, the audit chains
with their signed heads, the relation tuples, the outbox, the event sequence, and that sealed values open. For the last one it
needs the master key of the backup: the one that the settings of ctl serve name, or the one in the backup with its passphrase.

The scratch datastore is made in DIR, or where the system keeps temporary files, and removed. Exits 1 when a check fails.
`

/** Runs `ctl admin backup verify`: prints a table of checks. Resolves with the exit code. */
export function runBackupVerify(call: AdminCall): Promise<number> {
  return runAdmin({ name: 'admin backup verify', help: HELP }, call, async () => {
    const words = takeOwnWords(call.argv, {
      operand: 'the file of the backup: ctl admin backup verify FILE',
      valued: { [PASSPHRASE_FLAG]: 'FILE', [SCRATCH_FLAG]: 'DIR', ...OUTPUT_FLAGS },
      switches: [],
    })
    const json = isJson(words.valueOf('-o') ?? words.valueOf('--output'))
    const { backup, results } = await verify(call, words)
    const { head, path } = backup
    call.stdout.write(
      json ? `${JSON.stringify({ path, backup: head, checks: results }, null, 2)}\n` : checkTable(results),
    )
    assertPassed(results, `The verification of ${path}`)
  })
}

interface Verified {
  readonly backup: CheckedBackup
  readonly results: readonly CheckResult[]
}

async function verify(call: AdminCall, words: TakenWords): Promise<Verified> {
  const config = configOf(words.rest, call.env)
  const log = createLog(config.logLevel, call.stderr)
  const proof = createBackupProof()
  const backup = await checkedBackup(words.operand, proof.schema)
  const file = words.valueOf(PASSPHRASE_FLAG)
  const secrets = file === undefined ? undefined : await openSecrets(backup, call, file)
  const key = keyAtHand(masterKeys, { source: config.masterKey, head: backup.head, secrets })
  const results = await withScratch(words.valueOf(SCRATCH_FLAG), async ({ path: directory, parent }) => {
    await assertSpace(parent, backup.manifest, SCRATCH_FLAG)
    const warn = (message: string, cause?: unknown): void => log.warn({ err: cause }, message)
    return verifyBackup({ path: backup.path, directory, key, warn, proof })
  })
  return { backup, results: [backup.result, ...results] }
}
