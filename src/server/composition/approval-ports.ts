import type { Logger } from 'pino'
import type { HoldingPorts } from '../http/held/find-hold.ts'
import type { ApprovalKinds } from '../ports/approval-kind.ts'
import type { ApprovalQueue } from '../ports/approval-queue.ts'
import type { HeldCalls } from '../ports/held-calls.ts'
import { createHeldCalls } from '../slices/approvals/held-calls.ts'
import { createHeldRuns, type HeldRuns } from '../slices/approvals/held-runs.ts'
import { createApprovalQueue } from '../slices/approvals/queue.ts'
import { collectApprovalKinds, type CollectedKinds } from './approval-kinds.ts'
import type { Backend } from './backend.ts'
import { createLoopback, type BoundLoopback } from './loopback.ts'

/** What has to do with approvals: the ports of the slices, and what the composition and the edge need beside them. */
export interface ComposedApprovals {
  readonly ports: {
    readonly approvalKinds: ApprovalKinds
    readonly approvalQueue: ApprovalQueue
    readonly heldCalls: HeldCalls
    readonly heldRuns: HeldRuns
  }
  /** Takes the kinds once the slices are there. */
  readonly kinds: CollectedKinds
  readonly loopback: BoundLoopback
  readonly holding: HoldingPorts
}

/** Creates the approvals queue and the calls that it holds. */
export function createApprovalPorts(backend: Backend, { log }: { readonly log: Logger }): ComposedApprovals {
  const kinds = collectApprovalKinds()
  const loopback = createLoopback()
  const approvalQueue = createApprovalQueue(backend)
  const heldCalls = createHeldCalls({ approvalQueue, sealing: backend.sealing })
  const heldRuns = createHeldRuns({ ...backend, loopback: loopback.loopback, log })
  return {
    ports: { approvalKinds: kinds, approvalQueue, heldCalls, heldRuns },
    kinds,
    loopback,
    holding: { heldCalls, insight: backend.insight },
  }
}
