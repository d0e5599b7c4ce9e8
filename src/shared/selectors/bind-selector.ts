import type { Definition, LabelType, LabelValue } from './definition.ts'
import { quoted } from './fault.ts'
import { createKeySuggester } from './similar-key.ts'
import {
  ERRORS_MAX,
  scopeText,
  type Key,
  type Requirement,
  type SelectorError,
  type Span,
  type Value,
} from './syntax.ts'
import { integerOf, typedValue } from './typed-value.ts'

export { nearestDefinition, type Definition, type LabelValue, type QueryScope } from './definition.ts'

/** One condition over the label of a Definition. Its values have the type of the Definition. */
export type BoundRequirement =
  | { readonly op: 'exists' | 'absent'; readonly definition: Definition }
  | { readonly op: 'in' | 'notin'; readonly definition: Definition; readonly values: readonly LabelValue[] }
  | { readonly op: 'lt' | 'gt'; readonly definition: Definition; readonly value: number }

/** A selector whose keys and values are known. All requirements must hold; none at all is `*`. */
export interface BoundSelector {
  readonly requirements: readonly BoundRequirement[]
}

/** What `parseSelector` gives, or a selector without errors. */
export interface Unbound {
  readonly requirements: readonly Requirement[]
  readonly errors?: readonly SelectorError[]
}

/** The outcome of binding: a selector, or every error of text and meaning. */
export interface Binding {
  readonly bound: BoundSelector | undefined
  /** Those of the parser and those found here, by offset; at most 64. */
  readonly errors: readonly SelectorError[]
}

/**
 * Looks up the keys of a selector and gives its values the types of their Definitions. Requirements that did parse are looked at
 * beside the errors of the others, so that one pass reports all. `definitionOf` finds nothing that the caller may not see;
 * `suggested` are the Definitions that may be named for an unknown key.
 */
export function bindSelector(
  parsed: Unbound,
  definitionOf: (key: Key) => Definition | undefined,
  suggested: Iterable<Definition> = [],
): Binding {
  const errors: SelectorError[] = [...(parsed.errors ?? [])]
  const requirements: BoundRequirement[] = []
  const suggest = createKeySuggester(suggested)
  for (const requirement of parsed.requirements) {
    const definition = definitionOf(requirement.key)
    const bound = definition === undefined ? unknownKey(requirement.key, suggest) : boundTo(definition, requirement)
    if (Array.isArray(bound)) errors.push(...bound)
    else requirements.push(bound)
  }
  if (errors.length === 0) return { bound: { requirements }, errors }
  return { bound: undefined, errors: errors.toSorted((one, other) => one.offset - other.offset).slice(0, ERRORS_MAX) }
}

type Bound = BoundRequirement | SelectorError[]

function boundTo(definition: Definition, requirement: Requirement): Bound {
  if ('values' in requirement) return listed(definition, requirement)
  if ('value' in requirement) return compared(definition, requirement)
  return { op: requirement.op, definition }
}

function listed(definition: Definition, { op, values }: Extract<Requirement, { readonly values: unknown }>): Bound {
  const errors: SelectorError[] = []
  const typed: LabelValue[] = []
  for (const value of values) {
    const one = typedValue(definition.type, value.text)
    if (one === undefined) errors.push(wrongValue(value, definition.type))
    else typed.push(one)
  }
  return errors.length === 0 ? { op, definition, values: typed } : errors
}

function compared(
  definition: Definition,
  { op, value, operator }: Extract<Requirement, { readonly value: unknown }>,
): Bound {
  if (definition.type !== 'integer') {
    const message = `${definition.qualifiedKey} has values of type ${definition.type}; < and > compare integers only.`
    return [{ ...spanOf(operator), code: 'wrong_type', message, expected: ['=', '==', '!=', 'in', 'notin'] }]
  }
  const integer = integerOf(value.text)
  return integer === undefined ? [wrongValue(value, 'integer')] : { op, definition, value: integer }
}

/** What a value of a type other than text must be. */
const RULES: Readonly<Record<LabelType, readonly [rule: string, expected: readonly string[]]>> = {
  string: ['a text', ['value']],
  integer: [`an integer from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`, ['integer']],
  boolean: ['true or false', ['true', 'false']],
}

function wrongValue(value: Value, type: LabelType): SelectorError {
  const [rule, expected] = RULES[type]
  return { ...spanOf(value), code: 'wrong_type', message: `${quoted(value.text)} must be ${rule}.`, expected }
}

function unknownKey(key: Key, suggest: (key: Key) => string | undefined): SelectorError[] {
  const written = key.scope === undefined ? key.localKey : `${scopeText(key.scope)}/${key.localKey}`
  const similar = suggest(key)
  const hint = similar === undefined ? '' : ` Did you mean ${similar}?`
  const message = `No label ${written} is defined here.${hint}`
  return [{ ...spanOf(key), code: 'unknown_key', message, expected: similar === undefined ? [] : [similar] }]
}

function spanOf({ offset, length }: Span): Span {
  return { offset, length }
}
