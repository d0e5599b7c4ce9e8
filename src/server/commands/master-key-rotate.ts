import { resolve } from 'node:path'
import { rotateInPlace, rotateInto, type MasterKeyRotation } from '../adapters/keyring/rotate-master-key.ts'
import { BootError } from '../ports/boot-error.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config-error.ts'
import { createLog, type TextSink } from '../composition/log.ts'
import { holdsDatastore, openStorage } from '../composition/open-storage.ts'
import { configOf, runAdmin, type AdminCall } from './admin.ts'
import { takeOwnWords } from './own-words.ts'

const HELP = `Wraps the keyring under a new master key.

Usage: ctl admin master-key rotate [--new-key-file FILE] [flags of ctl serve]

The old key is read where the server reads it. The new one takes the place of the old file, or goes to FILE: it is made
there, or read if it is there already (32 bytes in base64). A key from SERVICE_MASTER_KEY needs FILE.

Stop a server on the embedded datastore first. On PostgreSQL servers may run: they hold the unwrapped keys in memory and
need the new master key at their next start. If the command is cut off, start the server or run the command again: the
key that fits is found. Backups of the database from before need the old key; keep it as long as them.
`

const FLAG = '--new-key-file'

/** Runs `ctl admin master-key rotate`: prints the result in one sentence, never a key. Resolves with the exit code. */
export function runMasterKeyRotate(call: AdminCall): Promise<number> {
  return runAdmin({ name: 'admin master-key rotate', help: HELP }, call, async () => {
    const { valueOf, rest } = takeOwnWords(call.argv, { operand: undefined, valued: { [FLAG]: 'FILE' }, switches: [] })
    const named = valueOf(FLAG)
    const newKeyFile = named === undefined ? undefined : resolve(named)
    const config = configOf(rest, call.env)
    const rotation = await rotate(config, newKeyFile, call.stderr)
    call.stderr.write(`${sentence(rotation, config, newKeyFile !== undefined)}\n`)
  })
}

async function rotate(config: Config, newKeyFile: string | undefined, stderr: TextSink): Promise<MasterKeyRotation> {
  assertRotatable(config, newKeyFile)
  const ignore = (): void => undefined // A failure here fails the command, which reports it.
  const { datastore } = await openStorage(config, { log: createLog(config.logLevel, stderr), onBroken: ignore })
  try {
    const { masterKey } = config
    if (newKeyFile !== undefined) return await rotateInto(datastore, masterKey, newKeyFile)
    if (!('path' in masterKey)) throw new Error('a key in no file cannot be rotated in place')
    return await rotateInPlace(datastore, masterKey)
  } finally {
    await datastore.close()
  }
}

/** Refused before anything is opened: opening a missing embedded datastore would create one. */
function assertRotatable({ masterKey, storage }: Config, newKeyFile: string | undefined): void {
  if (storage.kind === 'memory') throw new ConfigError(1, '--dev keeps nothing, so it has no master key to rotate.')
  if (storage.kind === 'embedded' && !holdsDatastore(storage.directory))
    throw new BootError(1, `There is no datastore in ${storage.directory}; name the right one with --data-dir.`)
  if (masterKey.kind === 'given' && newKeyFile === undefined)
    throw new ConfigError(
      2,
      `The master key comes from SERVICE_MASTER_KEY, which this command cannot change; name the file for the new one with ${FLAG}.`,
    )
}

function sentence({ id, path, outcome }: MasterKeyRotation, { storage }: Config, isElsewhere: boolean): string {
  if (outcome === 'unchanged') return `The keyring is wrapped under master key ${id} of ${path} already.`
  if (outcome === 'finished')
    return `Finished the rotation that was cut off: the keyring is wrapped under master key ${id}, in ${path}.`
  const done = `The keyring is now wrapped under master key ${id}, in ${path}`
  if (isElsewhere) return `${done}; start every server with that one (--master-key-file, or SERVICE_MASTER_KEY).`
  return storage.kind === 'postgres'
    ? `${done}; give that file to every server of the database that starts again.`
    : `${done}.`
}
