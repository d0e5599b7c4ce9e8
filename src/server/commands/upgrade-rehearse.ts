import { rehearse, type Rehearsal } from '../backup/rehearse/rehearse.ts'
import { assertSpace, bytesNeeded, mebibytes } from '../backup/restore/space.ts'
import { assertPassed } from '../backup/verify/checks.ts'
import { keyAtHand } from '../backup/verify/key-at-hand.ts'
import { SCRATCH_FLAG, withScratch } from '../backup/verify/scratch.ts'
import { createBackupProof, masterKeys } from '../composition/backup-proof.ts'
import { createLog } from '../composition/log.ts'
import { packageVersion } from '../composition/package-version.ts'
import { ConfigError } from '../config/config-error.ts'
import type { BackupProof } from '../ports/backup-proof.ts'
import { configOf, runAdmin, type AdminCall } from './admin.ts'
import { bootCopy } from './boot-copy.ts'
import { checkTable, isJson, OUTPUT_FLAGS } from './check-table.ts'
import { checkedBackup, openSecrets, type CheckedBackup } from './checked-backup.ts'
import { takeOwnWords, type TakenWords } from './own-words.ts'
import { PASSPHRASE_FLAG } from './passphrase.ts'

const HELP = `Tries an upgrade to this version on a copy made from a backup.

Usage: ctl admin upgrade rehearse --backup FILE [--scratch-dir DIR] [--passphrase-file FILE] [-o json] [flags of ctl serve]

Run it with the new version installed, before the server is upgraded. It loads the backup into a scratch datastore in the
schema of its time, applies each migration of this version, makes the checks of ctl admin backup verify and starts a server on
the copy, which answers a few requests. Nothing of the real server is changed, and no job runs on the copy. The copy is an
embedded datastore, also for a server on PostgreSQL: its times are no measure of that.

The start needs the master key of the backup: the one that the settings of ctl serve name, or the one in the backup with its
passphrase. The copy is made in DIR, or where the system keeps temporary files, and removed. Exits 1 when something fails.
`

const BACKUP_FLAG = '--backup'

/** Runs `ctl admin upgrade rehearse`: prints the migrations with their times and a table of checks. Resolves with the exit code. */
export function runUpgradeRehearse(call: AdminCall): Promise<number> {
  return runAdmin({ name: 'admin upgrade rehearse', help: HELP }, call, async () => {
    const words = takeOwnWords(call.argv, {
      operand: undefined,
      valued: { [BACKUP_FLAG]: 'FILE', [PASSPHRASE_FLAG]: 'FILE', [SCRATCH_FLAG]: 'DIR', ...OUTPUT_FLAGS },
      switches: [],
    })
    const json = isJson(words.valueOf('-o') ?? words.valueOf('--output'))
    const path = words.valueOf(BACKUP_FLAG)
    if (path === undefined) throw new ConfigError(2, `Name the backup: ctl admin upgrade rehearse ${BACKUP_FLAG} FILE`)
    const proof = createBackupProof()
    const backup = await checkedBackup(path, proof.schema)
    const rehearsal = await rehearseOn({ backup, proof }, call, words)
    const version = packageVersion()
    call.stdout.write(json ? jsonOf(backup, version, rehearsal) : textOf(backup, version, rehearsal))
    assertPassed(rehearsal.checks, `The rehearsal of the upgrade to ${version}`)
  })
}

interface Subject {
  readonly backup: CheckedBackup
  readonly proof: BackupProof
}

async function rehearseOn({ backup, proof }: Subject, call: AdminCall, words: TakenWords): Promise<Rehearsal> {
  const { stderr } = call
  const config = configOf(words.rest, call.env)
  const file = words.valueOf(PASSPHRASE_FLAG)
  const secrets = file === undefined ? undefined : await openSecrets(backup, call, file)
  const key = keyAtHand(masterKeys, { source: config.masterKey, head: backup.head, secrets })
  const log = createLog(config.logLevel, stderr)
  const warn = (message: string, cause?: unknown): void => log.warn({ err: cause }, message)
  return withScratch(words.valueOf(SCRATCH_FLAG), async ({ path: directory, parent }) => {
    await assertSpace(parent, backup.manifest, SCRATCH_FLAG)
    stderr.write(`The copy takes about ${mebibytes(bytesNeeded(backup.manifest))} in ${parent} while it is there.\n`)
    const rehearsal = await rehearse({ path: backup.path, directory, key, warn, proof })
    const isSound = rehearsal.checks.every(({ verdict }) => verdict !== 'failed')
    const start = isSound ? [await bootCopy(config, directory, { key, stderr })] : []
    return { ...rehearsal, checks: [backup.result, ...rehearsal.checks, ...start] }
  })
}

function jsonOf({ path, head }: CheckedBackup, version: string, rehearsal: Rehearsal): string {
  return `${JSON.stringify({ path, backup: head, version, ...rehearsal }, null, 2)}\n`
}

function textOf({ head }: CheckedBackup, version: string, rehearsal: Rehearsal): string {
  const { migrations, bytes_before: before, bytes_after: after, checks } = rehearsal
  const tried = migrations.map(({ name, duration_ms: ms, failure }) => {
    const seconds = `${(ms / 1000).toFixed(1)} s`
    return `  ${name}  ${failure === null ? seconds : `failed after ${seconds}`}\n`
  })
  const summary = migrations.length === 0 ? 'The schema is the same.' : `${migrations.length} migrations:`
  return `From ${head.product_version} to ${version}. ${summary}\n${tried.join('')}The datastore has ${mebibytes(before)} before and ${mebibytes(after)} after.\n\n${checkTable(checks)}`
}
