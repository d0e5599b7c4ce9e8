import type { ApprovalQueue } from '../../ports/approval-queue.ts'
import type { LentClouds } from '../../ports/lent-clouds.ts'
import type { LentCredentials } from '../../ports/lent-credentials.ts'
import * as clouds from './cloud-store.ts'
import { countLive } from './credential-store.ts'
import { endLent } from './end-lent.ts'

export interface LentDeps {
  readonly approvalQueue: ApprovalQueue
}

/** Creates what the slice of the credentials needs of their assignments. */
export function createLentCredentials({ approvalQueue }: LentDeps): LentCredentials {
  return {
    isLent: async (db, credentialId) => (await countLive(db, { credentialId })) > 0,
    end: (change, credentialId, revocation) => endLent(change, approvalQueue, { of: { credentialId }, revocation }),
  }
}

/** Creates what the slice of the Clouds needs of their assignments. */
export function createLentClouds({ approvalQueue }: LentDeps): LentClouds {
  return {
    async end(change, cloudId, nowMs) {
      await approvalQueue.withdraw(change, await clouds.pendingApprovals(change.db, cloudId), nowMs)
      await clouds.deleteAssignments(change.db, cloudId)
    },
  }
}
