import type { Db } from '../../ports/datastore.ts'
import { SourceFault } from './source-fault.ts'

/** An index as it was accepted. */
export interface AcceptedIndex {
  readonly serial: number
  readonly digest: Buffer
}

const indexOf = (db: Db, source: string) => db.selectFrom('release_indexes').selectAll().where('source', '=', source)

/** Whether the index is the one that was accepted last, and everything in it has been taken. */
export async function isTaken(db: Db, source: string, digest: Buffer): Promise<boolean> {
  const known = await indexOf(db, source).executeTakeFirst()
  return known?.is_applied === true && known.digest.equals(digest)
}

/**
 * Records the index as the newest one of its source.
 *
 * @throws SourceFault where a newer one was accepted, or another one of the same serial: the one who controls the source must
 * not bring back what was withdrawn.
 */
export async function acceptIndex(
  db: Db,
  source: string,
  { serial, digest, now }: AcceptedIndex & { readonly now: Date },
): Promise<void> {
  const known = await indexOf(db, source).forUpdate().executeTakeFirst()
  if (known !== undefined) refuseOlder(known, { serial, digest })
  const row = { serial: String(serial), digest, is_applied: false, read_at: now }
  await db
    .insertInto('release_indexes')
    .values({ source, ...row })
    .onConflict((conflict) => conflict.column('source').doUpdateSet(row))
    .execute()
}

function refuseOlder(
  known: { readonly serial: string; readonly digest: Buffer },
  { serial, digest }: AcceptedIndex,
): void {
  const former = Number(known.serial)
  if (serial < former) throw new SourceFault(`the serial of index.json has fallen from ${former} to ${serial}`)
  if (serial === former && !digest.equals(known.digest))
    throw new SourceFault(`index.json has changed, but its serial is still ${serial}`)
}

/** Holds the index while something in it is taken; false where another one has been accepted since. */
export async function holdIndex(db: Db, source: string, { digest }: AcceptedIndex): Promise<boolean> {
  const held = await indexOf(db, source).where('digest', '=', digest).forShare().executeTakeFirst()
  return held !== undefined
}

export async function markTaken(db: Db, source: string, { digest }: AcceptedIndex): Promise<void> {
  await db
    .updateTable('release_indexes')
    .set({ is_applied: true })
    .where('source', '=', source)
    .where('digest', '=', digest)
    .execute()
}
