import type { Result } from '../../../shared/contract/operation-types.ts'
import type { policies } from '../../../shared/contract/policies.ts'

type Operations = (typeof policies)['operations']

/** Answers of the API about policies. */
export type Policy = Result<Operations['GetPolicy']>
export type Revision = Result<Operations['ListPolicyRevisions']>['items'][number]
export type PolicyPreview = Result<Operations['PreviewPolicies']>
export type TestFailure = PolicyPreview['failures'][number]
export type Verdict = Result<Operations['CheckReachability']>
/** What the policies of one end of a flow say about it. */
export type Side = Verdict['egress']
