import type { TupleColumns } from '../../shared/authz/tuple.ts'
import type { Db } from './datastore.ts'
import type { Tuple, TuplePlace } from './unit-of-work.ts'

/** A tuple as a caller wants it bound to an object of a Project. */
export interface WantedTuple {
  readonly projectId: string
  readonly subject: string
  readonly relation: string
  readonly resource: string
  /** `caveat_name` names the caveat; of the other members the names alone are read. */
  readonly caveatContext?: Readonly<Record<string, unknown>> | undefined
}

/** A tuple that may be written, with ids as they are stored. */
export interface AdmittedTuple {
  readonly tuple: Tuple
  readonly columns: TupleColumns
  readonly place: TuplePlace
}

/** The rules of the tuple API (decisions: the tuple API is project-scoped). */
export interface TupleAdmission {
  /**
   * Holds a tuple against the schema, its Project and its subject's Domain. Reads through `db` and keeps what it found
   * until the transaction of `db` ends.
   * @throws Problem `invalid_triple`, `project_not_found`, `resource_not_in_project`.
   */
  admit(db: Db, wanted: WantedTuple): Promise<AdmittedTuple>
}
