import type { PlainProblemCode } from '../../../shared/problems.ts'
import type { Candidate, PartName } from '../../bridges/bridge-parts.ts'
import type { Bridge } from '../../bridges/find-bridge.ts'
import type { BridgeLiteral } from '../../bridges/update-config.ts'
import type { Db } from '../../ports/datastore.ts'

/** The key of a part. */
export interface PartKey {
  readonly resource_id: string
  readonly slug: string
}

/** A part with its slug. */
export interface Slugged {
  readonly slug: string
}

/** A stored part. */
export type Stored<Value> = Value & {
  readonly resource_id: string
  readonly created_at: Date
  readonly updated_at: Date
}

/** A part that takes the place of a stored one. */
export type Revised<Value> = Value & { readonly resource_id: string; readonly updated_at: Date }

type SluggedPart = Exclude<Candidate['part'], 'relay'>

/** What distinguishes the parts of one sub-surface from those of the others. */
export interface PartKind<Value extends Slugged> {
  readonly part: SluggedPart
  readonly events: { readonly configured: BridgeLiteral; readonly removed: BridgeLiteral }
  /** The problem of a slug that no part has. */
  readonly missing: PlainProblemCode
  readonly candidateOf: (value: Value) => Candidate
  /** The parts of a bridge, by slug. */
  readonly list: (db: Db, resourceId: string) => Promise<Stored<Value>[]>
  readonly find: (db: Db, key: PartKey) => Promise<Stored<Value> | undefined>
  /** @throws Problem of the constraint that refuses the row. */
  readonly insert: (db: Db, row: Stored<Value>) => Promise<Stored<Value>>
  /** Replaces all but the key and the time of creation. @throws Problem of the constraint that refuses the row. */
  readonly update: (db: Db, row: Revised<Value>) => Promise<Stored<Value> | undefined>
  /** Deletes the row with everything that refers to it; false where there is none. */
  readonly remove: (db: Db, key: PartKey) => Promise<boolean>
  /** Claims what no other part may have, and records the secret that it names, in the place of its former claims. */
  readonly claim: (db: Db, bridge: Bridge, value: Value) => Promise<void>
  /** Asks what the datastore cannot answer, before the transaction. */
  readonly inspect?: (bridge: Bridge, value: Value) => Promise<void>
}

/** The name of a part with a slug. */
export function nameOf(part: SluggedPart, slug: string): PartName {
  return `${part}/${slug}`
}
