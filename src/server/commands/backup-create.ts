import { resolve } from 'node:path'
import { PASSPHRASE_CHARACTERS_MIN } from '../backup/archive/format.ts'
import { createBackupCommand, type BackupInput } from '../backup/admin-command.ts'
import { openBackups } from '../composition/backups.ts'
import { createLog, type TextSink } from '../composition/log.ts'
import { openStorage } from '../composition/open-storage.ts'
import { systemClock } from '../adapters/system/clock.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config-error.ts'
import { AdminRefusal, type AdminRequest } from '../ports/admin-command.ts'
import { BootError } from '../ports/boot-error.ts'
import { configOf, runAdmin, type AdminCall } from './admin.ts'
import { askRunning, assertThere } from './carry-out.ts'
import { takeOwnWords, type OwnWords, type TakenWords } from './own-words.ts'
import { newPassphrase, PASSPHRASE_FLAG } from './passphrase.ts'

const HELP = `Makes a backup of the datastore in one file, while servers run.

Usage: ctl admin backup create FILE [--with-master-key] [--passphrase-file P] [--force] [flags of ctl serve]

FILE is made with mode 0600, and has its name only once all of it is on the disk. An existing one is replaced with --force only.
With --with-master-key the master key and the authority of --tls-self-signed are in it, encrypted by a passphrase of at least
${PASSPHRASE_CHARACTERS_MIN} characters: it is asked for twice, or is the first line of P. Without that key, kept elsewhere, the secrets in a backup are
of no use to anyone.

Beside a running server on the embedded datastore the server makes it; else the command works on the datastore itself, with
the settings of ctl serve. The embedded datastore is copied first, into --backup-scratch-dir. Ending the command ends the
backup: nothing is left of it.
`

const OWN_WORDS = {
  operand: 'the file of the backup: ctl admin backup create FILE',
  valued: { [PASSPHRASE_FLAG]: 'FILE' },
  switches: ['--force', '--with-master-key'],
} as const satisfies OwnWords

/** Runs `ctl admin backup create`: prints in one sentence what it made. Resolves with the exit code. */
export function runBackupCreate(call: AdminCall): Promise<number> {
  return runAdmin({ name: 'admin backup create', help: HELP }, call, async () => {
    const words = takeOwnWords(call.argv, OWN_WORDS)
    const config = configOf(words.rest, call.env)
    const passphrase = await passphraseFor(words, call)
    const input: BackupInput = { path: resolve(words.operand), replaces: words.has('--force'), passphrase }
    const asked = { command: 'backup.create', input, attachments: [] }
    const progress = createProgressLine(call.stderr)
    try {
      const done =
        (await askRunning(config, asked, progress.show)) ??
        (await onDatastore(config, asked, { stderr: call.stderr, show: progress.show }))
      progress.clear()
      call.stderr.write(`${done}\n`)
    } catch (error) {
      progress.clear()
      if (error instanceof AdminRefusal) throw new BootError(1, error.message, error)
      throw error
    }
  })
}

async function passphraseFor(words: TakenWords, call: AdminCall): Promise<string | undefined> {
  const file = words.valueOf(PASSPHRASE_FLAG)
  if (words.has('--with-master-key')) return newPassphrase(call, file)
  if (file === undefined) return undefined
  throw new ConfigError(2, `${PASSPHRASE_FLAG} encrypts the master key: it needs --with-master-key.`)
}

interface ProgressLine {
  readonly show: (sentence: string) => void
  readonly clear: () => void
}

/** One line that is overwritten; nothing where there is no terminal. */
function createProgressLine(stderr: TextSink): ProgressLine {
  if (!stderr.isTty) return { show: () => undefined, clear: () => undefined }
  const erase = '\r\u001B[K'
  return { show: (sentence) => stderr.write(erase + sentence), clear: () => stderr.write(erase) }
}

/** Opens the datastore as it is: a backup before an upgrade must not bring its schema up to date. */
async function onDatastore(
  config: Config,
  { input, attachments }: AdminRequest,
  { stderr, show }: { readonly stderr: TextSink; readonly show: ProgressLine['show'] },
): Promise<string> {
  assertThere(config)
  const ignore = (): void => undefined // A failure here fails the command, which reports it.
  const { datastore, openSnapshot } = await openStorage(config, {
    log: createLog(config.logLevel, stderr),
    onBroken: ignore,
  })
  const ended = endedBySignal()
  try {
    if (openSnapshot === undefined) throw new Error('the datastore gives no snapshots')
    const command = createBackupCommand(openBackups(config, { openSnapshot, clock: systemClock }))
    return await command.run({ input, attachments }, { signal: ended.signal, report: show })
  } finally {
    ended.dispose()
    await datastore.close()
  }
}

/** Aborted when someone ends the command, so that it can remove what it made. */
function endedBySignal(): { readonly signal: AbortSignal; readonly dispose: () => void } {
  const ending = new AbortController()
  const end = (): void => ending.abort(new AdminRefusal('The backup was ended; nothing is left of it.'))
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.once(signal, end)
  return {
    signal: ending.signal,
    dispose() {
      for (const signal of signals) process.removeListener(signal, end)
    },
  }
}
