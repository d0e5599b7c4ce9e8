import type { RoleSubject } from '../../shared/role-subjects.ts'
import type { Db } from './datastore.ts'

/** Knows which subjects exist and where they belong, for a caller that binds them to objects. */
export interface SubjectDirectory {
  /**
   * Tells whether the subject exists and may be bound to objects of the Domain: it belongs to that Domain or holds a
   * relation on the platform, by itself or through groups (decisions: Structural relations). On the platform, `null`, any
   * principal and any group may be bound. Reads through `db`, so that a change sees what it wrote itself, and keeps
   * the subject from being deleted until its transaction ends.
   */
  mayBind(db: Db, subject: RoleSubject, domainId: string | null): Promise<boolean>
  /** Tells whether the subject holds any relation on the platform, by itself or through groups; wildcards do not count. */
  holdsPlatformRelation(db: Db, subject: RoleSubject): Promise<boolean>
}
