import type { ProblemAnswer } from '../../client/failures.ts'
import { memberOf } from '../output/members.ts'
import type { Session } from '../session/session.ts'
import type { Hints } from './hints.ts'

const DECISIONS: ReadonlySet<string | undefined> = new Set(['ApproveApproval', 'RejectApproval'])

/** What to do next about refusals of approvals and their policies, by code. */
export const APPROVAL_HINTS: Readonly<Record<string, Hints>> = {
  self_approval_denied: () => ['Others who may decide see it with: ctl approvals list --to-decide'],
  approval_stale: ({ problem: { operationId } }) => [
    DECISIONS.has(operationId)
      ? 'The requester can take it back and request it again: ctl approvals withdraw APPROVAL'
      : 'Request it again: the same command without --approval',
  ],
  approval_pending: () => ['See what waits: ctl approvals list --state pending-approval'],
  too_few_approvers: ({ problem: { document } }) => [
    ...(typeof document['approvers'] === 'number' && typeof document['needed'] === 'number'
      ? [`  can decide: ${document['approvers']}`, `  needed: ${document['needed']}`]
      : []),
    'People who hold manage there decide: ctl grants create user:NAME admin OBJECT',
  ],
}

/** Why a credential that has the scopes and the relation does not decide all the same, and what does. */
export interface NoDecider {
  readonly message: string
  readonly hint: string
}

/** Explains a refused decision by the caller's credential; undefined for any other refusal. */
export async function noDecider(problem: ProblemAnswer, session: Session): Promise<NoDecider | undefined> {
  if (problem.code !== 'permission_denied' || !DECISIONS.has(problem.operationId)) return undefined
  const me = await session.whoami().catch(() => ({}))
  if (memberOf(me, 'kind') === 'service-identity')
    return {
      message: 'service identities request and never decide; a person has to',
      hint: 'Sign in as a person: ctl login',
    }
  const scopes = memberOf(me, 'credential.scopes')
  const isScoped = Array.isArray(scopes) && (scopes.includes('*') || scopes.includes('approvals:write'))
  if (problem.document['reason'] !== 'out_of_scope' || !isScoped) return undefined
  return {
    message: 'this credential does not decide: somebody else made the token, or an application has it too',
    hint: 'Sign in yourself, which makes a token of your own: ctl login',
  }
}
