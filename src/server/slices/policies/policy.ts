import type { policies } from '../../../shared/contract/policies.ts'
import type { Input, Result } from '../../../shared/contract/operation-types.ts'
import { isolatedDirections } from '../../../shared/policies/compile-policy.ts'
import type { PolicyDocument } from '../../../shared/policies/policy-document.ts'
import { problem } from '../../../shared/problems.ts'
import type { SelectorMember } from './resolve-document.ts'
import type { PolicyRecord, RevisionRecord } from './store.ts'

type Operations = (typeof policies)['operations']
export type PolicyAnswer = Result<Operations['GetPolicy']>
type RevisionAnswer = Result<Operations['ListPolicyRevisions']>['items'][number]
export type CreateBody = Input<Operations['CreatePolicy']>['body']
export type PreviewBody = Input<Operations['PreviewPolicies']>['body']
export type PatchBody = Input<Operations['PatchPolicy']>['body']

/** The policy in references: in the audit, and as the holder of Definitions. */
export function referenceOf(policyId: string): string {
  return `policy:${policyId}`
}

type WrittenMembers = Omit<PolicyDocument, 'tests'> & { readonly tests?: PolicyDocument['tests'] | undefined }

/** The document of a body. `isolates` without duplicates; absent where the rules decide. */
export function documentOf({ selector, isolates, rules, tests = [] }: WrittenMembers): PolicyDocument {
  return { selector, ...(isolates !== undefined && { isolates: [...new Set(isolates)] }), rules, tests }
}

/** A document after a patch, and the members that it keeps. */
export function patchedDocument(
  stored: PolicyDocument,
  patch: PatchBody,
): { readonly document: PolicyDocument; readonly stored: ReadonlySet<SelectorMember> } {
  const { selector = stored.selector, isolates = stored.isolates, rules = stored.rules, tests = stored.tests } = patch
  const members: readonly SelectorMember[] = ['selector', 'rules', 'tests']
  return {
    document: documentOf({ selector, isolates, rules, tests }),
    stored: new Set(members.filter((member) => patch[member] === undefined)),
  }
}

/** The entity tag of a policy: its revision. */
export function etagOf({ revision_id }: Pick<PolicyRecord, 'revision_id'>): string {
  return `"${revision_id}"`
}

/**
 * Compares `If-Match` with the revision in force, strongly (RFC 9110 §13.1.1). An absent header and `*` let everything pass.
 *
 * @throws Problem `policy_stale`
 */
export function assertMatches(policy: Pick<PolicyRecord, 'revision_id'>, ifMatch: string | undefined): void {
  if (ifMatch === undefined) return
  const tags = ifMatch.split(',').map((tag) => tag.trim())
  if (!tags.includes('*') && !tags.includes(etagOf(policy))) throw problem('policy_stale')
}

const written = ({ selector, document, fingerprint }: Pick<PolicyRecord, 'selector' | 'document' | 'fingerprint'>) => ({
  selector,
  isolates: [...isolatedDirections(document)],
  rules: document.rules.map(({ cidrs, except_cidrs, ports, ...rule }) => ({
    ...rule,
    ...(cidrs !== undefined && { cidrs: [...cidrs] }),
    ...(except_cidrs !== undefined && { except_cidrs: [...except_cidrs] }),
    ...(ports !== undefined && { ports: [...ports] }),
  })),
  tests: document.tests.map((test) => ({ ...test })),
  fingerprint,
})

/** The policy as the API shows it. */
export function toAnswer(policy: PolicyRecord): PolicyAnswer {
  return {
    id: policy.id,
    domain_id: policy.domain_id,
    slug: policy.slug,
    display_name: policy.display_name,
    ...written(policy),
    revision_id: policy.revision_id,
    revision: policy.number,
    matched_count: policy.matched_count,
    created_at: policy.created_at.toISOString(),
    updated_at: policy.updated_at.toISOString(),
  }
}

/** A revision as the API shows it. */
export function toRevision(revision: RevisionRecord): RevisionAnswer {
  return {
    revision_id: revision.id,
    revision: revision.number,
    display_name: revision.display_name,
    ...written(revision),
    created_by: revision.created_by,
    created_at: revision.created_at.toISOString(),
  }
}
