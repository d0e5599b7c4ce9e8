import type { Db } from './datastore.ts'
import type { Change } from './unit-of-work.ts'

/** Who takes lent credentials back, why and when. */
export interface Revocation {
  /** A subject. */
  readonly by: string
  readonly reason: string
  readonly nowMs: number
}

/** The assignments of a Cloud's credentials, as the slice of the credentials sees them. */
export interface LentCredentials {
  /** Whether a Project has the credential, or has requested it. */
  isLent(db: Db, credentialId: string): Promise<boolean>
  /**
   * Ends what is requested or approved: `uses` tuples are removed, pending approvals withdrawn,
   * `CredentialAssignmentRevoked` appended for each approved one. The caller has locked the credential's row, so that it is
   * not requested meanwhile.
   */
  end(change: Change, credentialId: string, revocation: Revocation): Promise<void>
}
