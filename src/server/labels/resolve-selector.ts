import { bindSelector, nearestDefinition, type BoundSelector } from '../../shared/selectors/bind-selector.ts'
import { canonicalSelector } from '../../shared/selectors/canonical-selector.ts'
import type { Definition, QueryScope } from '../../shared/selectors/definition.ts'
import { parseSelector } from '../../shared/selectors/parse-selector.ts'
import type { SelectorError } from '../../shared/selectors/syntax.ts'
import type { Db } from '../ports/datastore.ts'
import { definitionsNamed, definitionsSeen } from './definitions-in-scope.ts'

/** Where a selector is used, and by whom. */
export interface SelectorUse extends QueryScope {
  /** Whether the caller may know of a Definition; all are known without. */
  readonly knows?: (definitionId: string) => boolean | Promise<boolean>
}

/** A selector and its one text, or every error of it. */
export type ResolvedSelector =
  | { readonly bound: BoundSelector; readonly canonical: string; readonly errors: readonly [] }
  | { readonly bound: undefined; readonly canonical: undefined; readonly errors: readonly SelectorError[] }

/**
 * Reads a selector where it is used. A Definition that the caller may not know of is an unknown key, and the next one that a bare
 * key can mean takes its place. Reads the datastore once, and once more where a key is unknown, to offer a similar one.
 */
export async function resolveSelector(db: Db, text: string, use: SelectorUse): Promise<ResolvedSelector> {
  const parsed = parseSelector(text)
  const keys = parsed.requirements.map(({ key }) => key)
  const known = await knownOf(await definitionsNamed(db, keys, use), use)
  const definitionOf = (key: (typeof keys)[number]): Definition | undefined => nearestDefinition(known, use, key)
  const isAnyUnknown = keys.some((key) => definitionOf(key) === undefined)
  const suggested = isAnyUnknown ? await knownOf(await definitionsSeen(db, use), use) : []
  const { bound, errors } = bindSelector(parsed, definitionOf, suggested)
  if (bound === undefined) return { bound, canonical: undefined, errors }
  return { bound, canonical: canonicalSelector(bound), errors: [] }
}

async function knownOf(definitions: readonly Definition[], { knows }: SelectorUse): Promise<readonly Definition[]> {
  if (knows === undefined) return definitions
  const known: Definition[] = []
  for (const definition of definitions) if (await knows(definition.id)) known.push(definition)
  return known
}
