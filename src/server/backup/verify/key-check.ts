import { openRing } from '../../adapters/keyring/open-keyring.ts'
import { createSealing } from '../../adapters/keyring/ring.ts'
import type { SealingKey } from '../../adapters/keyring/sealed-bytes.ts'
import { storedRows, unwrapKey, type KeyringRow } from '../../adapters/keyring/stored-ring.ts'
import { systemClock } from '../../adapters/system/clock.ts'
import { BootError } from '../../ports/boot-error.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Sealing } from '../../ports/keyring.ts'
import { pskPlace } from '../../sql/node-psk.ts'
import type { Check, Fault, Looked, Skipped } from './checks.ts'
import { readPresharedKeys, readSealedColumns, readSealingKeys } from './consistency-store.ts'

/** The master key of a backup; or why there is none. */
export type KeyAtHand = SealingKey | Skipped

const PAGE_ROWS = 1_000

/**
 * The check that the secrets of a scratch datastore open: the ring under the master key, every sealed value under a key of
 * the ring, and the preshared keys of nodes, one by one.
 */
export function keyCheck(datastore: Datastore, key: KeyAtHand): Check {
  return { name: 'sealed values', run: async () => ('skipped' in key ? key : check(datastore, key)) }
}

async function check(datastore: Datastore, master: SealingKey): Promise<Looked> {
  const rows = await storedRows(datastore.pool('bulk'))
  const shut = rows.flatMap((row) => faultOf(master, row))
  if (shut.length > 0) return { count: rows.length, what: 'values', faults: shut }
  const sealed = await checkColumns(datastore, new Set(rows.map(({ key_id: id }) => id)))
  const ring = await openRing(datastore, master, systemClock)
  const unopened = await countUnopened(datastore, createSealing(ring))
  const psk = unopened === 0 ? [] : [`The preshared keys of ${unopened} nodes do not open: use another backup.`]
  return { count: rows.length + sealed.count, what: 'values', faults: [...sealed.faults, ...psk] }
}

/** None where the key of the row opens. */
function faultOf(master: SealingKey, row: KeyringRow): readonly Fault[] {
  try {
    unwrapKey(master, row).fill(0)
    return []
  } catch (error) {
    if (!(error instanceof BootError)) throw error
    return [`The key ${row.key_id} of the keyring does not open under master key ${master.id}: use another backup.`]
  }
}

interface Columns {
  readonly count: number
  readonly faults: readonly Fault[]
}

async function checkColumns(datastore: Datastore, known: ReadonlySet<string>): Promise<Columns> {
  const db = datastore.pool('bulk')
  const faults: Fault[] = []
  let count = 0
  for (const column of await readSealedColumns(db)) {
    for (const { keyId, values } of await readSealingKeys(db, column)) {
      count += values
      if (!known.has(keyId))
        faults.push(
          `${values} values of ${column.table}.${column.column} are under a key that the keyring does not have: use another backup.`,
        )
    }
  }
  return { count, faults }
}

async function countUnopened(datastore: Datastore, sealing: Sealing): Promise<number> {
  let unopened = 0
  for (let after: string | undefined; ;) {
    const page = await readPresharedKeys(datastore.pool('bulk'), after, PAGE_ROWS)
    for (const { id, psk_sealed: sealed } of page) if (!(await opens(sealing, id, sealed))) unopened++
    after = page.at(-1)?.id
    if (page.length < PAGE_ROWS) return unopened
  }
}

async function opens(sealing: Sealing, nodeId: string, sealed: Buffer): Promise<boolean> {
  try {
    const psk = await sealing.open(pskPlace(nodeId), sealed)
    psk.fill(0)
    return true
  } catch {
    // Another key or altered bytes: the caller counts it as a fault.
    return false
  }
}
