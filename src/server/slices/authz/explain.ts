import type { Explanation, ProposedTuple } from '../../../shared/authz/explanation.ts'
import type { authz } from '../../../shared/contract/authz.ts'
import type { Input, Result } from '../../../shared/contract/operation-types.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Authorizer, Decision } from '../../ports/authorizer.ts'
import type { AuthzInsight } from '../../ports/authz-insight.ts'
import { DENIED, factsOf, namedFacts, noteAsked } from './question-context.ts'
import type { DisclosurePolicy } from './disclosure-policy.ts'

type PostAuthzExplain = (typeof authz)['operations']['PostAuthzExplain']
type Question = Input<PostAuthzExplain>['body']
type Answer = Result<PostAuthzExplain>
type Shown = Answer['tree']

/** Checks whether the caller may read the object of a reference. */
type MayRead = (reference: string) => Promise<boolean>

/** The whole explanation of a question that names something the caller may not read. */
const HIDDEN: Shown = { kind: 'hidden', parts: [] }

export interface ExplainDeps {
  readonly authorizer: Authorizer
  readonly insight: AuthzInsight
  readonly disclosure: DisclosurePolicy
}

/** The explanation of a check as its caller may see it. */
interface DisclosedCheck {
  readonly decision: Decision
  readonly tree: Shown
  readonly remedies: Answer['remedies']
}

/**
 * Explains checks under the rules of the check itself; a caller sees the parts of the tree that it may read, and is offered only
 * grants whose objects and subjects it may read.
 */
export function createExplain({ authorizer, insight, disclosure }: ExplainDeps) {
  async function explained(
    ctx: RequestContext,
    { subject, relation, resource, caveat_context: named }: Question,
  ): Promise<DisclosedCheck> {
    const facts = factsOf(ctx, subject)
    const query = { subject, relation, resource, facts, allowedFacts: namedFacts(named), wantPath: true }
    const first = await authorizer.check(query)
    if (!(await disclosure.mayDisclose(ctx, subject, resource))) return { decision: DENIED, tree: HIDDEN, remedies: [] }
    const { outcome, tree, remedies } = await insight.explain({ ...query, isAbandoned: () => ctx.isAbandoned() })
    // The explanation may have waited for its turn, and be of a later state than the check.
    const decision = first.allowed === (outcome === 'granted') ? first : await authorizer.check(query)
    const reads = disclosure.readerOf(ctx)
    // The subject was named by the caller: showing it in a tuple reveals nothing more than the tuple does.
    const mayName: MayRead = async (reference) => reference === subject || reads(objectIn(reference))
    return { decision, tree: await shownOf(tree, reads, mayName), remedies: await offered(remedies, reads, mayName) }
  }

  return async (ctx: RequestContext, body: Question): Promise<Answer> => {
    noteAsked(ctx, { subject: body.subject, relation: body.relation })
    const { decision, tree, remedies } = await explained(ctx, body)
    const { correlationId: correlation_id } = ctx
    if (decision.allowed)
      return { decision: 'allowed', relation_path: [...decision.path], tree, remedies, correlation_id }
    ctx.denied(decision.reason)
    return { decision: 'denied', reason: decision.reason, tree, remedies, correlation_id }
  }
}

/** The object of a reference to a set: `group:x` of `group:x#member`. */
function objectIn(reference: string): string {
  const hash = reference.indexOf('#')
  return hash < 0 ? reference : reference.slice(0, hash)
}

async function shownOf(node: Explanation, reads: MayRead, mayName: MayRead): Promise<Shown> {
  if (!(await reads(node.object))) return HIDDEN
  const { subject } = node
  if (subject !== undefined && !subject.endsWith(':*') && !(await mayName(subject))) return HIDDEN
  const parts: Shown[] = []
  for (const part of node.parts) parts.push(await shownOf(part, reads, mayName))
  return { ...wordsOf(node), parts }
}

function wordsOf({ kind, outcome, object, name, subject, condition, omitted }: Explanation): Omit<Shown, 'parts'> {
  return {
    kind,
    outcome,
    object,
    ...(name !== '' && { name }),
    ...(subject !== undefined && { subject }),
    ...(condition !== undefined && { condition: conditionOf(condition) }),
    ...(omitted !== undefined && { omitted }),
  }
}

function conditionOf({ caveat, outcome, missing, isExpired }: NonNullable<Explanation['condition']>) {
  return { caveat, outcome, missing: [...missing], is_expired: isExpired }
}

async function offered(
  remedies: readonly (readonly ProposedTuple[])[],
  reads: MayRead,
  mayName: MayRead,
): Promise<Answer['remedies']> {
  const shown: Answer['remedies'] = []
  for (const tuples of remedies) {
    let isReadable = true
    for (const { subject, resource } of tuples) {
      isReadable &&= (await reads(resource)) && (await mayName(subject))
    }
    if (isReadable) shown.push(tuples.map(({ subject, relation, resource }) => ({ subject, relation, resource })))
  }
  return shown
}
