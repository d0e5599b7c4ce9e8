import { problem } from '../../../shared/problems.ts'
import type { ApprovalKind } from '../../ports/approval-kind.ts'
import type { Authorizer } from '../../ports/authorizer.ts'
import { HELD_CALL } from './held-calls.ts'
import type { HeldRuns } from './held-runs.ts'
import * as store from './held-store.ts'

export interface HeldKindDeps {
  readonly authorizer: Authorizer
  readonly heldRuns: HeldRuns
}

/**
 * Carries decisions on held calls out. Approving repeats the gate of the call for its requester; all other checks are those
 * of the call itself, which is made after the decision is committed.
 */
export function createHeldKind({ authorizer, heldRuns }: HeldKindDeps): ApprovalKind {
  return {
    kind: HELD_CALL,
    async approve({ db }, { id, requestedBy: subject, nowMs }) {
      const { decide_relation: relation, decide_object: resource } = await store.findGate(db, id)
      const facts = { nowMs }
      const decision = await authorizer.check({ subject, relation, resource, facts, wantPath: false })
      // A caveat was met by the request. It is asked again when the call is made, with the facts of the request.
      if (!decision.allowed && decision.reason !== 'caveat_violation') throw problem('approval_stale')
    },
    approved: (approvalId) => heldRuns.run(approvalId),
    end: ({ db }, { id }) => store.deleteCall(db, id),
  }
}
