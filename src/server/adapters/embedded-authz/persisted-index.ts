import { createHash, randomUUID } from 'node:crypto'
import type { Model } from '../../../shared/authz/model.ts'
import { SCHEMA } from '../../../shared/authz/schema.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import { readIndexFile, removeIndexFile, writeIndexFile, type IndexFile } from './index-file.ts'
import { addMark, changesBetween, countTuples, hasMark } from './index-marks.ts'
import { applyChange, noTuples, type LoadedTuples } from './loaded-tuples.ts'

/** Stores the index in a file between two runs, so that the next start does not read every tuple. */
export interface PersistedIndex {
  /**
   * The tuples of a snapshot at the revision: from the file, updated with the changes since. Undefined where there
   * is no file, or an invalid one, which is logged and deleted.
   */
  restore(snapshot: Db, revision: bigint): Promise<LoadedTuples | undefined>
  /** Writes the current tuples, at the revision, to the file. A failure is logged: the next start is slower. */
  save(loaded: LoadedTuples, revision: bigint): Promise<void>
}

export interface PersistedIndexDeps {
  readonly model: Model
  readonly datastore: Datastore
  /** Of the file; its directory may be missing. */
  readonly path: string
  readonly warn: (message: string, cause?: unknown) => void
}

/** The schema whose numbers the file uses. */
const FINGERPRINT = createHash('sha256').update(SCHEMA).digest('hex')

export function createPersistedIndex({ model, datastore, path, warn }: PersistedIndexDeps): PersistedIndex {
  async function read(snapshot: Db, revision: bigint): Promise<LoadedTuples | undefined> {
    const file = await readIndexFile(path)
    if (file === undefined) return undefined
    await assertOfThisHistory(file, snapshot, revision)
    const loaded = { ...noTuples(model), unknownTuples: file.unknownTuples }
    loaded.index.adopt(file.image)
    const span = { from: BigInt(file.revision), to: revision }
    const isWhole = await changesBetween(snapshot, span, (change) => applyChange(loaded, change))
    if (!isWhole) throw new Error('changes since it was written are pruned')
    const stored = await countTuples(snapshot)
    if (stored !== loaded.index.tuples + loaded.unknownTuples) throw new Error('tuples were changed past the service')
    return loaded
  }

  async function write(loaded: LoadedTuples, revision: bigint): Promise<void> {
    const { index, unknownTuples, unsavedChanges } = loaded
    const mark = randomUUID()
    const head = { schema: FINGERPRINT, mark, revision: String(revision), unknownTuples }
    const { commit } = await writeIndexFile(path, { ...head, image: index.image() })
    await datastore.transaction('worker', (tx) => addMark(tx, { mark, revision: head.revision, made_at: new Date() }))
    await commit()
    loaded.unsavedChanges -= unsavedChanges
  }

  return {
    async restore(snapshot, revision) {
      try {
        return await read(snapshot, revision)
      } catch (error) {
        const message = 'the file of the authorization index is not used; the tuples are loaded from the datastore'
        warn(`${message}: ${error instanceof Error ? error.message : String(error)}`)
        await removeIndexFile(path).catch((cause: unknown) =>
          warn('the file of the authorization index could not be removed', cause),
        )
        return undefined
      }
    },
    async save(loaded, revision) {
      await write(loaded, revision).catch((error: unknown) => warn('the authorization index could not be kept', error))
    },
  }
}

/** @throws Error for a file of another schema, another database or another history of this one. */
async function assertOfThisHistory(file: IndexFile, snapshot: Db, revision: bigint): Promise<void> {
  if (file.schema !== FINGERPRINT) throw new Error('it belongs to another schema')
  if (!(await hasMark(snapshot, file.mark, file.revision))) throw new Error('it belongs to another database')
  if (BigInt(file.revision) > revision) throw new Error('it is newer than the database')
}
