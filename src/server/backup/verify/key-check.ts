import type { BackupProof } from '../../ports/backup-proof.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Sealing, SealingKey } from '../../ports/keyring.ts'
import type { Check, Fault, Looked } from './checks.ts'
import { eachSealedValue, type SealedValue } from './consistency-store.ts'
import type { KeyAtHand } from './key-at-hand.ts'
import { SEALED_COLUMNS, type SealedColumn } from './sealed-columns.ts'

/** The master key of the backup, and what opens a keyring. */
export interface KeyChecking {
  readonly key: KeyAtHand
  readonly proof: Pick<BackupProof, 'openRing'>
}

/** The check that the secrets of a scratch datastore open: the keyring under the master key, and every sealed value under it. */
export function keyCheck(datastore: Datastore, { key, proof }: KeyChecking): Check {
  return { name: 'sealed values', run: async () => ('skipped' in key ? key : check(datastore, { master: key, proof })) }
}

interface Opening {
  readonly master: SealingKey
  readonly proof: KeyChecking['proof']
}

async function check(datastore: Datastore, { master, proof }: Opening): Promise<Looked> {
  const { keys, shut, sealing } = await proof.openRing(datastore, master)
  if (sealing === undefined) return { count: keys, what: 'values', faults: shut.map((id) => shutFault(id, master)) }
  let count = keys
  const faults: Fault[] = []
  for (const column of SEALED_COLUMNS) {
    const opened = await openColumn(datastore, column, sealing)
    count += opened.values
    if (opened.shut > 0)
      faults.push(
        `${opened.shut} of ${opened.values} values of ${column.table}.${column.column} do not open under the keyring: use another backup.`,
      )
  }
  return { count, what: 'values', faults }
}

function shutFault(keyId: string, { id }: SealingKey): Fault {
  return `The key ${keyId} of the keyring does not open under master key ${id}: use another backup.`
}

async function openColumn(
  datastore: Datastore,
  column: SealedColumn,
  sealing: Sealing,
): Promise<{ readonly values: number; readonly shut: number }> {
  let values = 0
  let shut = 0
  await eachSealedValue(datastore, column, async (value) => {
    values += 1
    if (!(await opens(sealing, column, value))) shut += 1
  })
  return { values, shut }
}

async function opens(
  sealing: Sealing,
  { table, column }: SealedColumn,
  { rowId, sealed }: SealedValue,
): Promise<boolean> {
  try {
    const plain = await sealing.open({ table, column, rowId }, sealed)
    plain.fill(0)
    return true
  } catch {
    // Another key, another place or altered bytes: the caller counts it as a fault.
    return false
  }
}
