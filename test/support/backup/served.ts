import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { createSnapshots } from '../../../src/server/adapters/postgres/open-snapshot.ts'
import { MIGRATIONS } from '../../../src/server/adapters/postgres/migrate.ts'
import { readMasterKey } from '../../../src/server/adapters/keyring/master-key.ts'
import { sealedUnder } from '../../../src/server/adapters/keyring/sealed-bytes.ts'
import { openPglite } from '../../../src/server/adapters/pglite/database.ts'
import { createBackups, type BackupDeps } from '../../../src/server/backup/snapshot/create-backup.ts'
import { serve, type RunningServer } from '../../../src/server/composition/serve.ts'
import { parseConfig, type Config } from '../../../src/server/config/config.ts'
import { createMemoryHandover } from '../../../src/server/first-run/memory-handover.ts'
import { createTokenFile } from '../../../src/server/first-run/token-file.ts'
import { hashing } from '../server/hashing.ts'

/** Where a server keeps what it knows: its data directory, and the database where it is not in there. */
export interface Place {
  readonly data: string
  readonly url: string | undefined
}

/** The flags of `ctl serve` for it. */
export function flagsOf({ data, url }: Place): string[] {
  return ['--data-dir', data, ...(url === undefined ? [] : ['--database-url', url])]
}

export function configOf(place: Place): Config {
  return parseConfig({ argv: ['--listen', '127.0.0.1:0', ...flagsOf(place)], env: {} })
}

/** Runs a server on it for as long as the work takes. */
export async function served<T>(place: Place, work: (server: RunningServer) => Promise<T>): Promise<T> {
  mkdirSync(place.data, { recursive: true, mode: 0o700 })
  const server = await serve({
    config: configOf(place),
    log: pino({ level: 'silent' }),
    handover: createTokenFile(join(place.data, 'bootstrap-token')),
    initialPassword: createMemoryHandover(),
    passwordHashing: hashing,
    onBroken(error) {
      throw error
    },
  })
  try {
    return await work(server)
  } finally {
    await server.close()
  }
}

/** Backs up what no server uses, by the code of `ctl admin backup create`. */
export async function backUp(place: Place, path: string, passphrase?: string): Promise<void> {
  const { masterKey } = configOf(place)
  const key = readMasterKey(masterKey)
  if (key === undefined) throw new Error('there is no master key')
  const keys: BackupDeps['keys'] = {
    fingerprint: ([row]) => (row === undefined ? null : (sealedUnder(row['sealed'] as Buffer) ?? null)),
    secrets: () => ({ master_key: key.secret.export().toString('base64') }),
  }
  await withSnapshots(place, async (openSnapshot) => {
    const create = createBackups({
      openSnapshot,
      clock: { now: () => Date.now() },
      keys,
      productVersion: '0.0.1-test',
      store: place.url === undefined ? 'embedded' : 'postgresql',
      server: { public_url: null, replica: null },
      migrations: MIGRATIONS.map(({ name }) => name),
    })
    await create({ path, replaces: false, passphrase, signal: new AbortController().signal })
  })
}

async function withSnapshots(
  { data, url }: Place,
  work: (open: BackupDeps['openSnapshot']) => Promise<void>,
): Promise<void> {
  if (url !== undefined) return work(createSnapshots(url))
  const datastore = await openPglite({ dataDir: data })
  try {
    const { openSnapshot } = datastore
    if (openSnapshot === undefined) throw new Error('the datastore gives no snapshots')
    await work(openSnapshot)
  } finally {
    await datastore.close()
  }
}
