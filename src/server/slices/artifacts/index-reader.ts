import { createHash } from 'node:crypto'
import type { Clock } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Leading } from '../../ports/leadership.ts'
import type { ReleaseVerifier } from '../../ports/release-verifier.ts'
import { BUNDLE_BYTES_MAX } from '../../releases/release-content.ts'
import { parseIndex, type IndexedRelease } from './index-document.ts'
import { acceptIndex, isTaken, type AcceptedIndex } from './index-store.ts'
import type { ReleaseSource } from './release-source.ts'
import { SourceFault } from './source-fault.ts'

export interface IndexReaderDeps {
  readonly source: ReleaseSource
  readonly verifier: ReleaseVerifier
  readonly datastore: Datastore
  readonly clock: Clock
}

/** An accepted index whose releases are to be taken. */
export interface NewIndex extends AcceptedIndex {
  readonly releases: readonly IndexedRelease[]
}

const INDEX = 'index.json'
const SIGNATURE = 'index.json.sigstore.json'
const INDEX_BYTES_MAX = 4 * 1024 * 1024

/** Reads the index of a source; undefined where everything in it has been taken. Rejects with SourceFault. */
export type IndexReader = (leading: Leading) => Promise<NewIndex | undefined>

export function createIndexReader({ source, verifier, datastore, clock }: IndexReaderDeps): IndexReader {
  /** Of the index of which everything has been taken. */
  let takenEtag: string | undefined

  async function accepted(bytes: Buffer, digest: Buffer, leading: Leading): Promise<NewIndex> {
    await requireSigned(bytes, leading)
    const { serial, releases } = parseIndex(bytes)
    const index = { serial, digest, releases }
    await leading.transaction((db) => acceptIndex(db, source.name, { ...index, now: new Date(clock.now()) }))
    return index
  }

  async function requireSigned(bytes: Buffer, { signal }: Leading): Promise<void> {
    const signature = await source.read(SIGNATURE, { bytesMax: BUNDLE_BYTES_MAX, signal })
    if (!signature) throw new SourceFault(`${SIGNATURE} does not exist`)
    const judged = await verifier.judgeDocument(bytes, signature.bytes)
    if (judged.verdict === 'unverified')
      throw new SourceFault(`the signature of ${INDEX} does not count (${judged.reason})`)
  }

  return async (leading) => {
    const { signal } = leading
    const file = await source.read(INDEX, { bytesMax: INDEX_BYTES_MAX, unlessEtag: takenEtag, signal })
    if (file === undefined) return undefined
    takenEtag = undefined
    if (file === null) throw new SourceFault(`${INDEX} does not exist`)
    const digest = createHash('sha256').update(file.bytes).digest()
    if (!(await isTaken(datastore.pool('worker'), source.name, digest))) return accepted(file.bytes, digest, leading)
    takenEtag = file.etag
    return undefined
  }
}
