import type { Slice } from '../../http/slice.ts'
import type { Authorizer } from '../../ports/authorizer.ts'
import { createCloudAssignments } from './cloud-assignments.ts'
import { createCredentialAssignments, type LendingDeps } from './credential-assignments.ts'
import { createApprovalKinds } from './kinds.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

export interface LendingPorts extends LendingDeps {
  readonly authorizer: Authorizer
}

/** The lending of Clouds and of their credentials to Projects. */
export function createSlice(ports: LendingPorts): Slice<'cloudAssignments' | 'credentialAssignments'> {
  return {
    handlers: {
      cloudAssignments: createCloudAssignments(ports),
      credentialAssignments: createCredentialAssignments(ports),
    },
    approvalKinds: createApprovalKinds(ports),
  }
}
