import type { Change } from './unit-of-work.ts'

/** The assignments of a Cloud to Projects, as the slice of the Clouds sees them. */
export interface LentClouds {
  /**
   * Withdraws the pending approvals of a Cloud that is being deleted, and deletes its assignments. The caller has locked
   * the Cloud's row and found it without credentials; it deletes the tuples of the Cloud itself.
   */
  end(change: Change, cloudId: string, nowMs: number): Promise<void>
}
