import type { Db, Pool } from './datastore.ts'
import type { OutboxEvent } from './outbox-events.ts'
import type { TraceMarks } from './tracing.ts'

/** A tuple as the model speaks of it. References use the API's names (`node-agent`), never the engine's. */
export interface Tuple {
  /** `<type>:<id>` or `<type>:<id>#<relation>`. */
  readonly subject: string
  readonly relation: string
  /** `<type>:<id>`. */
  readonly resource: string
  readonly caveatName?: string
  readonly caveatFields?: readonly string[]
}

/** A tuple as stored. */
export interface StoredTuple extends Tuple {
  readonly caveatFields: readonly string[]
  readonly id: string
  readonly createdAt: Date
  readonly domainId: string | null
  readonly projectId: string | null
  readonly structural: boolean
}

/** The Domain and Project of a tuple, stored beside it for lists and cross-tenant rules; null for the platform's. */
export interface TuplePlace {
  readonly domainId: string | null
  readonly projectId: string | null
}

/** A tuple with its place. */
export interface PlacedTuple {
  readonly tuple: Tuple
  readonly place: TuplePlace
}

export interface TupleWrites {
  /** Adds a role or membership tuple. Undefined when an identical one is live. `problem('invalid_triple')` where the schema refuses it. */
  create(tuple: Tuple, place: TuplePlace): Promise<StoredTuple | undefined>
  /** Adds a parent edge that does not exist yet; only services may (decisions: structural relations). */
  createStructural(tuple: Tuple, place: TuplePlace): Promise<void>
  /** The same for the edges of several objects, in one statement. */
  createEdges(edges: readonly PlacedTuple[]): Promise<void>
  /** Adds a parent edge that an object should have had since it was created, unless it is live. */
  restoreStructural(tuple: Tuple, place: TuplePlace): Promise<void>
  /**
   * Puts an object from one Project of its Domain into another, or into none: replaces its edge to the Project, and keeps
   * the roles on it beside the new one. The caller has locked the object's row.
   */
  moveObject(reference: string, from: TuplePlace, to: TuplePlace): Promise<void>
  /** Removes the parent edge of exactly this content, and nothing else of its objects; false when there is none. */
  removeStructural(tuple: Tuple): Promise<boolean>
  /** Removes one tuple; undefined when another caller was first. Structural tuples are not found by it. */
  delete(id: string): Promise<StoredTuple | undefined>
  /**
   * Blocks other changes of tuples until this transaction ends, and waits until this replica has applied the earlier ones:
   * for a decision that rests on all of them.
   */
  settle(): Promise<void>
  /** Removes every tuple with the object on either side: the object is going away. */
  deleteObject(reference: string): Promise<number>
}

/** What a service holds while it changes something: one transaction, and what must be said with it. */
export interface Change {
  readonly db: Db
  readonly tuples: TupleWrites
  /** Appends an outbox row, written after the aggregate's rows and before the commit. Its literal decides the payload's shape. */
  emit(event: OutboxEvent): void
  /**
   * Adds an audit row of something that the server itself does within the change, besides the rows of the request. It has
   * the correlation id of the change, and rides as those do: one that cannot be written does not undo the change.
   */
  audit(entry: ChangeAuditEntry): void
  /** Makes every replica drop what it cached of the credential before its lease ends. */
  credentialChanged(kind: 'api-token' | 'nsk' | 'join-token' | 'session', id: string): void
  /** Makes every replica reread the Domain's settings that caveats use. */
  domainChanged(domainId: string): void
}

/** An audit row to be written. */
export interface AuditEntry {
  readonly domainId: string | null
  readonly subject: string
  readonly relation: string
  readonly object: string
  readonly outcome:
    | 'granted'
    | 'permission_denied'
    | 'invariant_violation'
    | 'identity_conflict'
    | 'not_found'
    | 'internal_error'
  readonly reason: string
  readonly correlationId: string
  readonly context: Readonly<Record<string, unknown>>
}

/** An audit row that a change adds by itself. */
export type ChangeAuditEntry = Omit<AuditEntry, 'correlationId'>

/** The audit row of one request, on its way in a transaction of several. */
export interface CarriedAudit {
  /** One, or none where the contract wants none. */
  readonly rows: readonly AuditEntry[]
  /** To be called once they are committed: the edge leaves none then. */
  readonly carried: () => void
}

export interface ChangeOptions {
  readonly pool: Pool
  readonly correlationId: string
  /** Of the request whose change it is, for the log. */
  readonly trace?: TraceMarks | undefined
  /** The audit rows of the requests whose change it is: mostly one. Absent: it has none. */
  readonly audit?: () => readonly AuditEntry[]
}

/**
 * Runs a change with its outbox and audit rows in one transaction (quality promise 2), and returns after this replica
 * has seen its own revision. Each audit row rides under a savepoint: when it fails, the change stays and the failure
 * is logged and counted. `audit` is called last, so that it can name what the work found.
 */
export interface UnitOfWork {
  run<T>(options: ChangeOptions, work: (change: Change) => Promise<T>): Promise<T>
}
