import type { policies } from '../../../shared/contract/policies.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { verdictOf } from '../../../shared/policies/verdict.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import { holdDomain } from '../../sql/hold-domain.ts'
import { bindStored } from '../../policies/bound-selectors.ts'
import { compareReach } from './compare-reach.ts'
import { evaluateNodes, type SelectNodes } from '../../policies/evaluate-nodes.ts'
import { classifyNodes, policiesAt, type ClassedNodes } from './node-classes.ts'
import { groupsOf, groupsText } from '../../policies/nodes-store.ts'
import { readNodeParties, type NodeParty } from './parties-store.ts'
import {
  assertSoundEntries,
  previewChange,
  readEntries,
  type PreviewedChange,
  type PreviewedPolicy,
  type PreviewEntry,
} from './previewed-policies.ts'
import type { PlacedError } from './resolve-document.ts'
import { runTests, type TestFailure } from './run-tests.ts'
import { createSideAnswers } from './side-answers.ts'

type Answer = Result<(typeof policies)['operations']['PreviewPolicies']>

const SAMPLE_MAX = 20
const NO_PAIRS = { count: 0, sample: [] }

/** Serves the preview of changes: nothing is stored (decisions: Policies). */
export function createPreview({
  datastore,
}: {
  readonly datastore: Datastore
}): Pick<Handlers<typeof policies>, 'PreviewPolicies'> {
  return {
    async PreviewPolicies(_ctx, { id: domainId, body: { policies: written } }) {
      const entries = readEntries(written)
      assertSoundEntries(entries)
      const read = await datastore.transaction('interactive', (tx) => readPreview(tx, domainId, entries))
      return 'errors' in read ? read.errors : answerOf(entries, read)
    },
  }
}

/** What the answer is computed from, once the transaction is over. */
interface ReadPreview {
  readonly change: PreviewedChange
  readonly nodes: readonly NodeParty[]
  readonly selected: SelectNodes
}

async function readPreview(
  tx: Db,
  domainId: string,
  entries: readonly PreviewEntry[],
): Promise<ReadPreview | { readonly errors: Answer }> {
  if (!(await holdDomain(tx, domainId))) throw problem('domain_not_found')
  const { change, errors } = await previewChange(tx, domainId, entries)
  if (change === undefined) return { errors: errorsOf(errors) }
  const nodes = await readNodeParties(tx, domainId, { policyIds: change.inForce.map(({ id }) => id) })
  const kept = change.inForce.filter(({ id }) => !change.dropped.has(id))
  const stored = kept.flatMap(({ document: { tests } }) => tests.flatMap(({ from, to }) => [from, to]))
  const bound = new Map([...(await bindStored(tx, domainId, stored)), ...change.bound])
  return { change, nodes, selected: await evaluateNodes(tx, domainId, { nodes, bound, isAll: true }) }
}

function errorsOf(errors: readonly PlacedError[]): Answer {
  const pointers = [...new Set(errors.map(({ pointer }) => pointer))]
  const selector_errors = pointers.map((pointer) => ({
    pointer,
    errors: errors
      .filter((error) => error.pointer === pointer)
      .map(({ offset, length, code, message, expected }) => ({
        offset,
        length,
        code,
        message,
        expected: [...expected],
      })),
  }))
  return { policies: [], gained: NO_PAIRS, lost: NO_PAIRS, failures: [], vacuous: [], selector_errors }
}

async function answerOf(entries: readonly PreviewEntry[], read: ReadPreview): Promise<Answer> {
  const { change, nodes, selected } = read
  const all = [...change.inForce, ...change.drafts.map((draft) => ({ id: keyOf(draft), entries: draft.entries }))]
  const after = classifyNodes(afterwards(read), all)
  const { gained, lost } = await compareReach(classifyNodes(nodes, all), after, all)
  const { failures, vacuous } = await runTests(testedAfter(change), after, selected)
  const names = new Map(nodes.map(({ id, name }) => [id, name]))
  return {
    policies: entries.map(({ slug }) => previewed(slug, change.drafts, { selected, names })),
    gained: { ...gained, sample: [...gained.sample] },
    lost: { ...lost, sample: [...lost.sample] },
    failures: failures.map(createReasons(change, after)),
    vacuous: vacuous.map(({ policy, test, selector }) => ({ policy, test, selector })),
  }
}

/** The nodes with the policies and groups that they would have. */
function afterwards({ change, nodes, selected }: ReadPreview): readonly NodeParty[] {
  const { inForce, dropped, drafts, newGroups } = change
  const gone = new Set(inForce.flatMap(({ id }, index) => (dropped.has(id) ? [index] : [])))
  const matched = drafts.map(({ resolved }) => new Set(selected(resolved.document.selector)))
  const members = newGroups.map(({ selector, number }) => ({ number, ids: new Set(selected(selector)) }))
  return nodes.map((node) => ({
    ...node,
    policies: [
      ...policiesAt(node.policies).filter((index) => !gone.has(index)),
      ...matched.flatMap((ids, index) => (ids.has(node.id) ? [inForce.length + index] : [])),
    ].join(','),
    groups: groupsText([
      ...groupsOf(node.groups),
      ...members.flatMap(({ number, ids }) => (ids.has(node.id) ? [number] : [])),
    ]),
  }))
}

/** Tells a draft from the stored policy that it would replace. */
function keyOf({ slug }: PreviewedPolicy): string {
  return `draft:${slug}`
}

/** Adds to a failure what decides at both ends, among the policies as they would be. */
function createReasons(
  change: PreviewedChange,
  after: ClassedNodes,
): (failure: TestFailure) => Answer['failures'][number] {
  const toSide = createSideAnswers(
    [
      ...change.inForce.map(({ id, slug, document: { rules }, entries }) => ({ key: id, id, slug, rules, entries })),
      ...change.drafts.map((draft) => {
        const { id, slug, resolved, entries } = draft
        return { key: keyOf(draft), id, slug, rules: resolved.document.rules, entries }
      }),
    ],
    change.groups,
  )
  const tests = new Map(testedAfter(change).map((policy) => [policy.slug, policy.tests]))
  return (failure) => {
    const [from, to] = [after.classOf(failure.from_node_id), after.classOf(failure.to_node_id)]
    const flow = tests.get(failure.policy)?.[failure.test]
    if (from === undefined || to === undefined || flow === undefined)
      throw new Error('a failure names a node or a test that there is not')
    const { egress, ingress } = verdictOf(from.party, to.party, { protocol: flow.protocol, port: flow.port })
    return { ...failure, egress: toSide(egress), ingress: toSide(ingress) }
  }
}

function testedAfter({ inForce, dropped, drafts }: PreviewedChange) {
  const kept = inForce.filter(({ id }) => !dropped.has(id))
  return [
    ...kept.map(({ id, slug, document: { tests } }) => ({ id, slug, tests })),
    ...drafts.map(({ id, slug, resolved }) => ({ id, slug, tests: resolved.document.tests })),
  ]
}

interface Shown {
  readonly selected: SelectNodes
  readonly names: ReadonlyMap<string, string>
}

function previewed(slug: string, drafts: readonly PreviewedPolicy[], { selected, names }: Shown) {
  const draft = drafts.find((one) => one.slug === slug)
  const ids = draft === undefined ? [] : selected(draft.resolved.document.selector).toSorted()
  return {
    slug,
    matched_count: ids.length,
    sample: ids.slice(0, SAMPLE_MAX).map((id) => ({ node_id: id, name: names.get(id) ?? '' })),
    fingerprint: draft?.fingerprint ?? null,
  }
}
