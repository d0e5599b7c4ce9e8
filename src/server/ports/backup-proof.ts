import type { BackupSchema } from './backup-schema.ts'
import type { Datastore } from './datastore.ts'
import type { Sealing, SealingKey } from './keyring.ts'

/** Which rows of a chain are verified next: of a Domain's (null: the platform's), from a number on. */
export interface ChainPart {
  readonly domainId: string | null
  readonly fromSeq: number | undefined
}

/** Verified rows of a chain. */
export interface VerifiedPart {
  /** `domain:<id>` or `platform`. */
  readonly chain: string
  readonly rows: number
  readonly first_bad: { readonly seq: number; readonly reason: string } | null
  /** Where the next part begins; null at the end. */
  readonly next_seq: number | null
}

/** Relation tuples compared with an index that was built of them. */
export interface ComparedTuples {
  readonly checked: number
  /** Those that differ. */
  readonly unresolved: number
  /** Those with a type or relation that this version does not know. */
  readonly unknown: number
}

/** The keyring of a datastore under a master key. */
export interface OpenedRing {
  /** Keys of the ring. */
  readonly keys: number
  /** Ids of those that do not open. */
  readonly shut: readonly string[]
  /** Opens what the ring sealed; undefined where a key is shut. */
  readonly sealing: Sealing | undefined
}

/** The parts of the server that a verification uses, over a scratch datastore. */
export interface BackupProof {
  readonly schema: BackupSchema
  /** Opens an embedded datastore in a directory of this process. Nothing of it is synced. */
  openScratch(directory: string, warn: (message: string, cause?: unknown) => void): Promise<Datastore>
  /** The verification of `ctl audit verify`, with the keys that the datastore publishes. */
  chainVerifier(datastore: Datastore): Promise<(part: ChainPart) => Promise<VerifiedPart>>
  /** The comparison of `ctl authz reconcile`, with an index that is built of the tuples alone. */
  compareTuples(datastore: Datastore): Promise<ComparedTuples>
  /** Opens the keyring. */
  openRing(datastore: Datastore, master: SealingKey): Promise<OpenedRing>
}
