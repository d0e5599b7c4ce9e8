import { createMasterKeyPlan, writeAuthority, writeKey } from '../backup/restore/master-key-plan.ts'
import type { Restored } from '../backup/restore/restore.ts'
import { assertSpace } from '../backup/restore/space.ts'
import type { SealedSecrets } from '../backup/archive/format.ts'
import { createBackupProof, masterKeys } from '../composition/backup-proof.ts'
import { createLog } from '../composition/log.ts'
import { openRestoreTarget, restoreInto } from '../composition/restore-target.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config-error.ts'
import type { RestoreTarget } from '../ports/restore-target.ts'
import { configOf, runAdmin, type AdminCall } from './admin.ts'
import { checkedBackup, openSecrets, type CheckedBackup } from './checked-backup.ts'
import { outsideSentences } from './outside-backup.ts'
import { takeOwnWords, type TakenWords } from './own-words.ts'
import { PASSPHRASE_FLAG } from './passphrase.ts'
import { reconcileEngine } from './reconcile-engine.ts'

const HELP = `Restores a backup into an empty datastore.

Usage: ctl admin backup restore FILE [--with-master-key] [--passphrase-file FILE] [flags of ctl serve]

The datastore is the one that the settings of ctl serve name: an embedded one (--data-dir) or PostgreSQL (--database-url),
whichever the backup is of. There must be none yet, or an empty database, and no server. A backup by an older version is
migrated. It is restored as a whole or not at all; a command that was cut off is run again.

The master key of the backup must be where ctl serve reads it. With --with-master-key it is written there from the backup,
which must have been made with it; the passphrase is asked for, or is the first line of --passphrase-file.

Then start the server. Nodes pull their whole state and renew the keys of their edges when they come back. Whatever was
changed after the backup is undone, also what was revoked: see docs/backup.md.
`

const WITH_KEY = '--with-master-key'
const NEXT =
  'Next: a way in, if every token is newer than the backup, is ctl admin bootstrap-token; then start ctl serve, run ctl audit verify, and revoke again what was revoked after the backup.'

/** Runs `ctl admin backup restore`: prints what it did and what is left to do. Resolves with the exit code. */
export function runBackupRestore(call: AdminCall): Promise<number> {
  return runAdmin({ name: 'admin backup restore', help: HELP }, call, async () => {
    const words = takeOwnWords(call.argv, {
      operand: 'the file of the backup: ctl admin backup restore FILE',
      valued: { [PASSPHRASE_FLAG]: 'FILE' },
      switches: [WITH_KEY],
    })
    if (words.valueOf(PASSPHRASE_FLAG) !== undefined && !words.has(WITH_KEY))
      throw new ConfigError(2, `${PASSPHRASE_FLAG} opens the master key in the backup: it needs ${WITH_KEY}.`)
    const config = configOf(words.rest, call.env)
    if (config.storage.kind === 'memory')
      throw new ConfigError(1, '--dev keeps nothing: name a datastore to restore into.')
    await restore(config, call, words)
  })
}

/** Writes each sentence once it is true: a failure of what comes later does not hide that the backup is restored. */
async function restore(config: Config, call: AdminCall, words: TakenWords): Promise<void> {
  const { schema } = createBackupProof()
  const target = await openRestoreTarget(config, createLog(config.logLevel, call.stderr))
  try {
    const backup = await checkedBackup(words.operand, schema)
    const { path } = backup
    const secrets = words.has(WITH_KEY) ? await openSecrets(backup, call, words.valueOf(PASSPHRASE_FLAG)) : undefined
    const keyPath = planKey(config, backup, secrets)
    if (target.directory !== undefined) await assertSpace(target.directory, backup.manifest, '--data-dir')
    let authority: string | undefined
    const restored = await restoreInto({
      path,
      target,
      schema,
      beforeCommit() {
        if (secrets === undefined) return
        if (keyPath !== undefined) writeKey(keyPath, secrets)
        authority = writeAuthority(config.dataDir, secrets)
      },
    })
    write(call, [restoredSentence(path, restored), ...writtenSentences(keyPath, authority)])
    await after(config, call, target)
  } finally {
    await target.close()
  }
}

/** The lock of an embedded target must be free before the datastore is opened as a server would open it. */
async function after(config: Config, call: AdminCall, target: RestoreTarget): Promise<void> {
  await target.close()
  try {
    write(call, [await reconcileEngine(config, createLog(config.logLevel, call.stderr))])
  } finally {
    write(call, [...outsideSentences(config), NEXT])
  }
}

function write({ stderr }: AdminCall, lines: readonly string[]): void {
  for (const line of lines) stderr.write(`${line}\n`)
}

/** Where the key is to be written; undefined where it is in place. @throws BootError */
function planKey(
  { masterKey }: Config,
  { head }: CheckedBackup,
  secrets: SealedSecrets | undefined,
): string | undefined {
  const { fingerprint } = head.master_key
  const plan = createMasterKeyPlan(masterKeys)
  if (secrets !== undefined && fingerprint !== null) return plan.placeFor(masterKey, fingerprint)
  plan.assertFits(masterKey, head)
  return undefined
}

function restoredSentence(path: string, { head, tables, rows, migrated, lanes }: Restored): string {
  const schema = migrated.length === 0 ? '' : `, and brought its schema from ${head.schema_version} up to date`
  return `Restored ${path} of ${head.created_at}: ${rows} rows in ${tables} tables${schema}. ${lanes} nodes will pull their state when they come back.`
}

function writtenSentences(keyPath: string | undefined, authority: string | undefined): readonly string[] {
  return [
    ...(keyPath === undefined ? [] : [`Wrote the master key to ${keyPath}.`]),
    ...(authority === undefined ? [] : [`Wrote the certificate authority of --tls-self-signed to ${authority}.`]),
  ]
}
