import { compilePolicy, type CompiledPolicy } from '../../../shared/policies/compile-policy.ts'
import { EVERY_NODE_SELECTOR } from '../../../shared/policies/rule-types.ts'
import type { BoundSelector } from '../../../shared/selectors/bind-selector.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { visibilityChanged } from '../../policies/visibility-changes.ts'
import { ownStateChanged } from '../../sql/state-revisions.ts'
import { changeGroups } from '../../policies/change-groups.ts'
import { replaceHeldDefinitions } from '../../policies/definitions-store.ts'
import { evaluateLabels, readLabelsOfAll, type LabelsOfNodes, type SelectNodes } from '../../policies/evaluate-nodes.ts'
import { addGroups, deleteUnused, readGroups, replaceUses, type Group } from '../../policies/groups-store.ts'
import { changeMatches, readMatches, readNodes } from '../../policies/nodes-store.ts'
import { readDomainTests, type DomainTests } from './domain-tests.ts'
import { referenceOf } from './policy.ts'
import type { Resolved } from './resolve-document.ts'
import * as store from './store.ts'

/** A revision that is to come into force. */
export interface PolicyDraft {
  readonly id: string
  readonly domainId: string
  readonly slug: string
  readonly displayName: string
  readonly revisionId: string
  readonly resolved: Resolved
  /** The policy before; undefined where it is new. */
  readonly former: store.PolicyRecord | undefined
  readonly createdBy: string
  readonly nowMs: number
}

/**
 * Puts a revision in force: compiles it, numbers its groups, matches the nodes of the Domain, and tells the nodes that it
 * concerns. The caller holds the policies of the Domain (`holdPolicies`), and runs the tests that this gives.
 *
 * @throws Problem `slug_conflict`
 */
export async function putInForce(change: Change, draft: PolicyDraft): Promise<TestsToRun> {
  const { db } = change
  const { id, domainId, former, resolved } = draft
  const groups = await numberGroups(change, draft)
  const compiled = compilePolicy(resolved.document, (selector) => groups.numberOf(selector))
  const isApplied = former?.selector === resolved.document.selector && former.fingerprint === compiled.fingerprint
  await storeRevision(change, draft, { compiled, isApplied })
  await replaceUses(db, { id, domainId }, groups.used)
  await replaceHeldDefinitions(db, referenceOf(id), resolved.definitionIds)
  const removed = (await deleteUnused(db, domainId)).map(({ number }) => number)
  const tests = await readDomainTests(db, domainId)
  // The same selector and the same rules: every node keeps what it has.
  if (isApplied) return { ...tests, labels: undefined }
  return { ...tests, labels: await matchAgain(change, draft, { added: groups.added, removed, tests }) }
}

/** The tests of the Domain, with the labels of its nodes where matching has read them. */
export type TestsToRun = DomainTests & { readonly labels: LabelsOfNodes | undefined }

interface Rematched {
  readonly added: readonly Group[]
  readonly removed: readonly number[]
  readonly tests: DomainTests
}

/** Gives the labels of all nodes, for the draft's selectors and for the tests: they are read once. Undefined where none matters. */
async function matchAgain(
  change: Change,
  draft: PolicyDraft,
  { added, removed, tests }: Rematched,
): Promise<LabelsOfNodes | undefined> {
  const { domainId, former, resolved } = draft
  const isAsked = former?.selector !== resolved.document.selector || added.length + removed.length > 0
  const nodes = isAsked ? await readNodes(change.db, { domainId }) : []
  const asked = askedOf(draft, added)
  const bound = [...asked.values(), ...tests.bound.values()]
  const labels = isAsked ? await readLabelsOfAll(change.db, domainId, bound) : undefined
  const select = evaluateLabels({ nodes, bound: asked }, labels ?? NO_LABELS)
  const selected = await selectedBy(change, draft, { added, select })
  await changeGroups(change, nodes, { domainId, added: selected.groups, removed })
  await visibilityChanged(change, domainId)
  await matchNodes(change, draft, selected.matched)
  return labels
}

interface NumberedGroups {
  /** The group of a canonical selector of the draft. */
  numberOf(selector: string): number
  /** Those that the draft names, ascending. */
  readonly used: readonly number[]
  /** Those of them that are new. */
  readonly added: readonly Group[]
}

async function numberGroups({ db }: Change, { domainId, resolved }: PolicyDraft): Promise<NumberedGroups> {
  const named = new Set(
    resolved.document.rules
      .flatMap(({ peers, except_peers }) => [peers, except_peers])
      .filter((selector) => selector !== undefined && selector !== EVERY_NODE_SELECTOR),
  )
  const known = (await readGroups(db, domainId)).filter(({ selector }) => named.has(selector))
  const isKnown = new Set(known.map(({ selector }) => selector))
  const missing = [...named].filter((selector) => selector !== undefined && !isKnown.has(selector))
  const added = await addGroups(db, domainId, missing.filter((selector) => selector !== undefined).toSorted())
  const numbers = new Map([...known, ...added].map(({ selector, number }) => [selector, number]))
  return {
    numberOf(selector) {
      const number = numbers.get(selector)
      if (number === undefined) throw new Error(`the selector ${selector} has no group`)
      return number
    },
    used: [...numbers.values()].toSorted((a, b) => a - b),
    added,
  }
}

async function storeRevision(
  { db }: Change,
  draft: PolicyDraft,
  { compiled, isApplied }: { readonly compiled: CompiledPolicy; readonly isApplied: boolean },
): Promise<void> {
  const { id, domainId, slug, revisionId, former, resolved } = draft
  const at = new Date(draft.nowMs)
  const applied = isApplied && former !== undefined ? former.applied_revision_id : revisionId
  const changed = { revision_id: revisionId, applied_revision_id: applied, updated_at: at }
  if (former === undefined) await store.insertPolicy(db, { id, domain_id: domainId, slug, created_at: at, ...changed })
  else await store.updatePolicy(db, { id, ...changed })
  await store.insertRevision(db, {
    id: revisionId,
    policy_id: id,
    domain_id: domainId,
    number: (former?.number ?? 0) + 1,
    display_name: draft.displayName,
    selector: resolved.document.selector,
    document: resolved.document,
    rules: compiled.text,
    fingerprint: compiled.fingerprint,
    created_by: draft.createdBy,
    created_at: at,
  })
}

interface Selected {
  readonly matched: ReadonlySet<string>
  /** Members of the new groups, by number. */
  readonly groups: ReadonlyMap<number, readonly string[]>
}

const NO_LABELS: LabelsOfNodes = { definitionIds: [], stored: [] }

/** The selectors to evaluate: that of the policy where it is another one, and those of new groups. */
function askedOf(
  { former, resolved: { document, bound } }: PolicyDraft,
  added: readonly Group[],
): ReadonlyMap<string, BoundSelector> {
  const texts = new Set(added.map(({ selector }) => selector))
  if (former?.selector !== document.selector) texts.add(document.selector)
  return new Map(Array.from(bound).filter(([text]) => texts.has(text)))
}

async function selectedBy(
  { db }: Change,
  { id, former, resolved: { document } }: PolicyDraft,
  { added, select }: { readonly added: readonly Group[]; readonly select: SelectNodes },
): Promise<Selected> {
  const isMatched = former?.selector === document.selector
  return {
    matched: isMatched ? await readMatches(db, id) : new Set(select(document.selector)),
    groups: new Map(added.map(({ number, selector }) => [number, select(selector)])),
  }
}

/** Tells the nodes that the policy matches now, and those that it matched before. */
async function matchNodes(change: Change, draft: PolicyDraft, matched: ReadonlySet<string>): Promise<void> {
  const { db } = change
  const { id, former, revisionId, domainId } = draft
  const before = former === undefined ? new Set<string>() : await readMatches(db, id)
  const left = [...before].filter((nodeId) => !matched.has(nodeId)).toSorted()
  const joined = [...matched].filter((nodeId) => !before.has(nodeId))
  const ofPolicy = (nodeId: string) => ({ policyId: id, nodeId })
  await changeMatches(db, { added: joined.map(ofPolicy), removed: left.map(ofPolicy) })
  await ownStateChanged(db, [...matched, ...left])
  change.emit({
    event: 'policy_revision_created',
    domainId,
    aggregate: referenceOf(id),
    payload: {
      policy_id: id,
      revision_id: revisionId,
      ...(former !== undefined && { former_revision_id: former.applied_revision_id }),
      left_node_ids: left,
    },
  })
}

/**
 * Deletes a policy. The nodes that it matched are listed before its rows go (S0 PolicyUpdatedPayload). The caller holds the
 * policies of the Domain.
 */
export async function removePolicy(change: Change, policy: store.PolicyRecord): Promise<void> {
  const { db } = change
  const { id, domain_id: domainId } = policy
  const matched = [...(await readMatches(db, id))].toSorted()
  await store.deletePolicy(db, id)
  const removed = (await deleteUnused(db, domainId)).map(({ number }) => number)
  const nodes = removed.length === 0 ? [] : await readNodes(db, { domainId })
  await changeGroups(change, nodes, { domainId, added: new Map(), removed })
  await visibilityChanged(change, domainId)
  await ownStateChanged(db, matched)
  change.emit({
    event: 'policy_deleted',
    domainId,
    aggregate: referenceOf(id),
    payload: { policy_id: id, revision_id: policy.applied_revision_id, node_ids: matched },
  })
}
