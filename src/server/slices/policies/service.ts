import type { policies } from '../../../shared/contract/policies.ts'
import { POLICIES_MAX } from '../../../shared/policies/policy-document.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { byNumberDescending, bySlug } from '../../sql/keyset.ts'
import { assertTestsHold, readDomainTests } from './domain-tests.ts'
import { assertMatches, documentOf, etagOf, patchedDocument, referenceOf, toAnswer, toRevision } from './policy.ts'
import type { PolicyAnswer } from './policy.ts'
import { assertSound, resolveDocument, type SelectorMember, type Unresolved } from './resolve-document.ts'
import * as store from './store.ts'
import { putInForce, removePolicy, type TestsToRun } from './write-policy.ts'

export interface PoliciesDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
}

type Written = Pick<
  Handlers<typeof policies>,
  | 'CreatePolicy'
  | 'ListPolicies'
  | 'GetPolicy'
  | 'PatchPolicy'
  | 'DeletePolicy'
  | 'ListPolicyRevisions'
  | 'RollbackPolicy'
>

const NONE: ReadonlySet<SelectorMember> = new Set()
const ALL: ReadonlySet<SelectorMember> = new Set(['selector', 'rules', 'tests'])

/** Serves the policies of a Domain, by slug, and their revisions, newest first (decisions: Policies). */
export function createPolicies({ datastore, ids }: PoliciesDeps): Written {
  const db = () => datastore.pool('interactive')

  /** The policy, once the gate of its row admits the caller: an unknown one, and one of strangers, are 404 alike. */
  async function admitTo(ctx: RequestContext, id: string): Promise<store.PolicyRecord> {
    const policy = await store.findPolicy(db(), id)
    if (policy !== undefined) ctx.about(referenceOf(id), policy.domain_id)
    await ctx.admit(policy && { domain_id: policy.domain_id })
    if (policy === undefined) throw problem('policy_not_found')
    return policy
  }

  /** The policy as it is now, which nobody else changes until the transaction ends. @throws Problem `policy_not_found`, `policy_stale` */
  async function locked(ctx: RequestContext, change: Change, seen: store.PolicyRecord): Promise<store.PolicyRecord> {
    await store.holdPolicies(change.db, seen.domain_id)
    const policy = await store.findPolicy(change.db, seen.id)
    if (policy === undefined) throw problem('policy_not_found')
    assertMatches(policy, ctx.requestHeader('If-Match'))
    return policy
  }

  /** Puts the next revision of a policy in force. */
  async function revise(ctx: RequestContext, seen: store.PolicyRecord, next: NextRevision): Promise<PolicyAnswer> {
    const answer = await ctx.change(async (change) => {
      const former = await locked(ctx, change, seen)
      const { displayName, ...unresolved } = await next(change, former)
      const resolved = await resolveDocument(change.db, former.domain_id, unresolved)
      const { id, domain_id: domainId, slug } = former
      const named = { id, domainId, slug, displayName, revisionId: ids.next() }
      const draft = { ...named, resolved, former, createdBy: ctx.caller.subject, nowMs: ctx.nowMs }
      return written(change, named, await putInForce(change, draft))
    })
    ctx.header('ETag', etagOf(answer))
    return answer
  }

  /** The policy as it was written, once the tests of the Domain hold. @throws Problem `policy_test_failed` */
  async function written(
    { db: tx }: Change,
    { id, domainId }: { readonly id: string; readonly domainId: string },
    tests: TestsToRun,
  ): Promise<PolicyAnswer> {
    const vacuous = await assertTestsHold(tx, domainId, tests)
    const policy = await store.findPolicy(tx, id)
    if (policy === undefined) throw new Error('a policy that was written cannot be read')
    const vacuous_tests = vacuous.map(({ policyId, test, selector }) => ({ policy_id: policyId ?? id, test, selector }))
    return { ...toAnswer(policy), ...(vacuous_tests.length > 0 && { vacuous_tests }) }
  }

  return {
    async CreatePolicy(ctx, { id: domainId, body }) {
      const document = documentOf(body)
      assertSound(document)
      const { slug, display_name: displayName = slug } = body
      const answer = await ctx.change(async (change) => {
        if (!(await store.holdPolicies(change.db, domainId))) throw problem('domain_not_found')
        if ((await store.countPolicies(change.db, domainId)) >= POLICIES_MAX) throw problem('policy_limit_exceeded')
        const resolved = await resolveDocument(change.db, domainId, { document, stored: NONE })
        const named = { id: ids.next(), domainId, slug, displayName, revisionId: ids.next(), former: undefined }
        const draft = { ...named, resolved, createdBy: ctx.caller.subject, nowMs: ctx.nowMs }
        const tests = await putInForce(change, draft)
        ctx.about(referenceOf(named.id), domainId)
        return written(change, named, tests)
      })
      ctx.header('Location', `/v1/policies/${answer.id}`)
      ctx.header('ETag', etagOf(answer))
      return answer
    },

    ListPolicies: (ctx, { id: domainId }) =>
      listPage(ctx, (range) => store.listPolicies(db(), domainId, range), { positionOf: bySlug.positionOf, toAnswer }),

    async GetPolicy(ctx, { id }) {
      const policy = await admitTo(ctx, id)
      ctx.header('ETag', etagOf(policy))
      return toAnswer(policy)
    },

    async PatchPolicy(ctx, { id, body }) {
      const seen = await admitTo(ctx, id)
      ctx.note({ fields: Object.keys(body).toSorted() })
      return revise(ctx, seen, async (_change, former) => {
        const patched = patchedDocument(former.document, body)
        assertSound(patched.document)
        return { ...patched, displayName: body.display_name ?? former.display_name }
      })
    },

    async DeletePolicy(ctx, { id }) {
      const seen = await admitTo(ctx, id)
      await ctx.change(async (change) => {
        await removePolicy(change, await locked(ctx, change, seen))
        await assertTestsHold(change.db, seen.domain_id, await readDomainTests(change.db, seen.domain_id))
      })
    },

    async ListPolicyRevisions(ctx, { id }) {
      await admitTo(ctx, id)
      return listPage(ctx, (range) => store.listRevisions(db(), id, range), {
        positionOf: byNumberDescending.positionOf,
        toAnswer: toRevision,
      })
    },

    async RollbackPolicy(ctx, { id, body: { revision_id: revisionId } }) {
      const seen = await admitTo(ctx, id)
      ctx.note({ revision_id: revisionId })
      return revise(ctx, seen, async ({ db: tx }, former) => {
        const revision = await store.findRevision(tx, former.id, revisionId)
        if (revision === undefined) throw problem('policy_revision_not_found')
        return { document: revision.document, stored: ALL, displayName: revision.display_name }
      })
    },
  }
}

/** Makes the next revision out of the policy as it is now. */
type NextRevision = (
  change: Change,
  former: store.PolicyRecord,
) => Promise<Unresolved & { readonly displayName: string }>
