import { policyErrors } from '../../../shared/policies/parse-rules.ts'
import type { PolicyDocument, PolicyTest } from '../../../shared/policies/policy-document.ts'
import type { AuthoredRule } from '../../../shared/policies/rule-types.ts'
import { problem } from '../../../shared/problems.ts'
import type { MemberError } from '../../../shared/problems/row.ts'
import type { BoundSelector } from '../../../shared/selectors/bind-selector.ts'
import type { SelectorError } from '../../../shared/selectors/syntax.ts'
import type { Db } from '../../ports/datastore.ts'
import { bindSelectors, describeBound } from '../../policies/bound-selectors.ts'

/** Members of a document that have selectors. */
export type SelectorMember = 'selector' | 'rules' | 'tests'

/** A document that is to be stored. */
export interface Unresolved {
  readonly document: PolicyDocument
  /** Members that were taken from the store: their selectors are canonical. */
  readonly stored: ReadonlySet<SelectorMember>
}

/** A document whose selectors are canonical. */
export interface Resolved {
  readonly document: PolicyDocument
  /** By canonical text. */
  readonly bound: ReadonlyMap<string, BoundSelector>
  /** The Definitions that its selectors name, each once. */
  readonly definitionIds: readonly string[]
}

/** An error of a selector, with the member of the body that has the selector (RFC 6901). */
export type PlacedError = SelectorError & { readonly pointer: string }

/** Throws Problem `invalid_policy` where rules or tests break a rule over their members. */
export function assertSound(document: Pick<PolicyDocument, 'rules' | 'tests'>): void {
  const errors = structuralErrors(document)
  if (errors.length === 0) return
  const fields = [...new Set(errors.map(({ pointer }) => pointer.split('/')[1] ?? ''))]
  throw problem('invalid_policy', { errors, fields })
}

/** The faults of rules and tests apart from those of their selectors. */
export function structuralErrors({ rules, tests }: Pick<PolicyDocument, 'rules' | 'tests'>): readonly MemberError[] {
  const ofRules = policyErrors({ rules }).map(({ member, message }) => ({
    pointer: `/${member.replaceAll('.', '/')}`,
    detail: message,
  }))
  const ofTests = tests.flatMap(({ protocol, port }, index) =>
    protocol === 'icmp' && port !== undefined
      ? [{ pointer: `/tests/${index}/port`, detail: 'must be absent unless protocol is tcp or udp' }]
      : [],
  )
  return [...ofRules, ...ofTests]
}

/**
 * Resolves the selectors of a document in the scope of a Domain.
 *
 * @throws Problem `invalid_selector` with every error of every selector, each with its member.
 */
export async function resolveDocument(tx: Db, domainId: string, unresolved: Unresolved): Promise<Resolved> {
  const { resolved, errors } = await tryResolve(tx, domainId, unresolved)
  if (resolved === undefined) throw problem('invalid_selector', { errors })
  return resolved
}

/** Does so without a problem: gives either the document or the errors. */
export async function tryResolve(
  tx: Db,
  domainId: string,
  { document, stored }: Unresolved,
): Promise<{ readonly resolved: Resolved | undefined; readonly errors: readonly PlacedError[] }> {
  const placed = selectorsOf(document)
  const bindings = await bindSelectors(
    tx,
    domainId,
    placed.map(({ text, member }) => ({ text, isStored: stored.has(member) })),
  )
  const errors = placed.flatMap(({ text, pointer }) =>
    (bindings.get(text)?.errors ?? []).map((error) => ({ ...error, pointer })),
  )
  if (errors.length > 0) return { resolved: undefined, errors: errors.slice(0, PLACED_ERRORS_MAX) }
  const canonical = new Map<string, string>()
  const bound = new Map<string, BoundSelector>()
  const definitionIds = new Set<string>()
  for (const [text, binding] of bindings) {
    if (binding.bound === undefined) continue
    const described = describeBound(binding.bound)
    canonical.set(text, described.text)
    bound.set(described.text, binding.bound)
    for (const id of described.definitionIds) definitionIds.add(id)
  }
  const resolved = {
    document: withSelectors(document, (text) => canonical.get(text) ?? text),
    bound,
    definitionIds: [...definitionIds].toSorted(),
  }
  return { resolved, errors: [] }
}

/** A policy has at most 257 selectors, and one error of each is enough to go on with. */
const PLACED_ERRORS_MAX = 256

interface PlacedSelector {
  readonly member: SelectorMember
  readonly pointer: string
  readonly text: string
}

function selectorsOf({ selector, rules, tests }: PolicyDocument): PlacedSelector[] {
  return [
    { member: 'selector', pointer: '/selector', text: selector },
    ...rules.flatMap((rule, index) => placedIn('rules', index, { peers: rule.peers, except_peers: rule.except_peers })),
    ...tests.flatMap(({ from, to }, index) => placedIn('tests', index, { from, to })),
  ]
}

function placedIn(
  member: SelectorMember,
  index: number,
  texts: Readonly<Record<string, string | undefined>>,
): PlacedSelector[] {
  return Object.entries(texts).flatMap(([name, text]) =>
    text === undefined ? [] : [{ member, pointer: `/${member}/${index}/${name}`, text }],
  )
}

function withSelectors({ selector, rules, tests, ...rest }: PolicyDocument, to: (text: string) => string) {
  const rule = ({ peers, except_peers, ...others }: AuthoredRule): AuthoredRule => ({
    ...others,
    ...(peers !== undefined && { peers: to(peers) }),
    ...(except_peers !== undefined && { except_peers: to(except_peers) }),
  })
  const test = (one: PolicyTest): PolicyTest => ({ ...one, from: to(one.from), to: to(one.to) })
  return { ...rest, selector: to(selector), rules: rules.map(rule), tests: tests.map(test) }
}
