import { compilePolicy } from '../../../shared/policies/compile-policy.ts'
import type { CompiledEntry } from '../../../shared/policies/rule-types.ts'
import { problem } from '../../../shared/problems.ts'
import { POLICIES_MAX } from '../../../shared/policies/policy-document.ts'
import type { BoundSelector } from '../../../shared/selectors/bind-selector.ts'
import type { Db } from '../../ports/datastore.ts'
import { readGroups, type Group } from '../../policies/groups-store.ts'
import { readPoliciesInForce, type PolicyInForce } from './parties-store.ts'
import { documentOf, type CreateBody, type PreviewBody } from './policy.ts'
import { structuralErrors, tryResolve, type PlacedError, type Resolved } from './resolve-document.ts'

/** A change of a request: a policy that it would put in the place of its slug, or the deletion of one. */
export type PreviewEntry = CreateBody | { readonly slug: string; readonly delete: true }

/** A policy that would be created or replaced. */
export interface PreviewedPolicy {
  /** Of the policy that it would replace; null where it would be a new one. */
  readonly id: string | null
  readonly slug: string
  readonly resolved: Resolved
  readonly entries: readonly CompiledEntry[]
  /** Null where it names groups that have no number yet. */
  readonly fingerprint: string | null
}

/** The policies of a Domain before and after the changes. */
export interface PreviewedChange {
  readonly inForce: readonly PolicyInForce[]
  /** Those in force that would be replaced or deleted, by id. */
  readonly dropped: ReadonlySet<string>
  readonly drafts: readonly PreviewedPolicy[]
  /** Groups that would be new, with numbers that are not given yet. */
  readonly newGroups: readonly Group[]
  /** Numbers of groups by selector, also of those that would be new. */
  readonly groups: ReadonlyMap<string, number>
  readonly bound: ReadonlyMap<string, BoundSelector>
}

/** The entries of a body, as one of the two that each may be. */
export function readEntries(entries: PreviewBody['policies']): readonly PreviewEntry[] {
  return entries.map(({ delete: isDeleted, selector, rules, ...entry }) => {
    if (isDeleted === true) return { slug: entry.slug, delete: true }
    if (selector === undefined || rules === undefined) throw new Error('the contract lets no such entry pass')
    return { ...entry, selector, rules }
  })
}

/** Throws Problem `invalid_policy` where an entry breaks a rule over its members, or two have one slug. */
export function assertSoundEntries(entries: readonly PreviewEntry[]): void {
  const slugs = new Set<string>()
  const errors = entries.flatMap((entry, index) => {
    const taken = slugs.has(entry.slug) ? [{ pointer: `/policies/${index}/slug`, detail: 'is named twice' }] : []
    slugs.add(entry.slug)
    if ('delete' in entry) return taken
    const faults = structuralErrors(documentOf(entry))
    return [...taken, ...faults.map(({ pointer, detail }) => ({ pointer: `/policies/${index}${pointer}`, detail }))]
  })
  if (errors.length > 0) throw problem('invalid_policy', { errors, fields: ['policies'] })
}

/**
 * Resolves and compiles the changes without storing anything. Gives errors of selectors, with their members, instead where
 * there are some.
 *
 * @throws Problem `policy_not_found`, `policy_limit_exceeded`
 */
export async function previewChange(
  tx: Db,
  domainId: string,
  entries: readonly PreviewEntry[],
): Promise<{ readonly change?: PreviewedChange; readonly errors: readonly PlacedError[] }> {
  const inForce = await readPoliciesInForce(tx, domainId)
  assertFits(inForce, entries)
  const resolving = await resolveEntries(tx, domainId, entries)
  if (resolving.errors.length > 0) return { errors: resolving.errors }
  const bySlug = new Map(inForce.map((policy) => [policy.slug, policy.id]))
  const groups = numberGroups(await readGroups(tx, domainId), resolving.resolved)
  const drafts = resolving.resolved.map(({ slug, resolved }) => ({
    id: bySlug.get(slug) ?? null,
    slug,
    resolved,
    ...compiled(resolved, groups),
  }))
  const dropped = new Set(entries.flatMap(({ slug }) => bySlug.get(slug) ?? []))
  const bound = new Map(resolving.resolved.flatMap(({ resolved }) => [...resolved.bound]))
  return { change: { inForce, dropped, drafts, newGroups: groups.added, groups: groups.numbers, bound }, errors: [] }
}

function assertFits(inForce: readonly PolicyInForce[], entries: readonly PreviewEntry[]): void {
  const slugs = new Set(inForce.map(({ slug }) => slug))
  for (const entry of entries) {
    if (!('delete' in entry)) slugs.add(entry.slug)
    else if (!slugs.delete(entry.slug)) throw problem('policy_not_found')
  }
  if (slugs.size > POLICIES_MAX) throw problem('policy_limit_exceeded')
}

interface ResolvedEntry {
  readonly slug: string
  readonly resolved: Resolved
}

async function resolveEntries(tx: Db, domainId: string, entries: readonly PreviewEntry[]) {
  const resolved: ResolvedEntry[] = []
  const errors: PlacedError[] = []
  for (const [index, entry] of entries.entries()) {
    if ('delete' in entry) continue
    const one = await tryResolve(tx, domainId, { document: documentOf(entry), stored: new Set() })
    errors.push(...one.errors.map((error) => ({ ...error, pointer: `/policies/${index}${error.pointer}` })))
    if (one.resolved !== undefined) resolved.push({ slug: entry.slug, resolved: one.resolved })
  }
  return { resolved, errors }
}

interface NumberedGroups {
  readonly added: readonly Group[]
  readonly numbers: ReadonlyMap<string, number>
}

/** New groups get the numbers behind the largest one: nobody sees them. */
function numberGroups(known: readonly Group[], entries: readonly ResolvedEntry[]): NumberedGroups {
  const numbers = new Map(known.map(({ selector, number }) => [selector, number]))
  const added: Group[] = []
  let last = known.at(-1)?.number ?? 0
  const named = entries.flatMap(({ resolved: { document } }) =>
    document.rules.flatMap(({ peers, except_peers }) => [peers, except_peers]),
  )
  for (const selector of named) {
    if (selector === undefined || numbers.has(selector)) continue
    numbers.set(selector, ++last)
    added.push({ selector, number: last })
  }
  return { added, numbers }
}

function compiled({ document }: Resolved, { added, numbers }: NumberedGroups) {
  const isNew = new Set(added.map(({ number }) => number))
  let namesNew = false
  const { rules, fingerprint } = compilePolicy(document, (selector) => {
    const number = numbers.get(selector)
    if (number === undefined) throw new Error(`the selector ${selector} has no group`)
    namesNew ||= isNew.has(number)
    return number
  })
  return { entries: rules, fingerprint: namesNew ? null : fingerprint }
}
