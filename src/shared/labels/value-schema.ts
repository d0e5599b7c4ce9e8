import type { LabelType, LabelValue, ValueSchema } from './schema-types.ts'
import { isStorable } from '../selectors/read-value.ts'
import { VALUE_CHARACTERS_MAX } from '../selectors/syntax.ts'
import { compilePattern, type Search } from './value-pattern.ts'
import { schemaFault } from './schema-fault.ts'

/** Whether a value fits: undefined, or a sentence that says what it must be. */
export type ValueCheck = (value: unknown) => string | undefined

/**
 * The value schema that a JSON value is, or a sentence about its first fault: an unknown member, one for another type, bounds that
 * exclude each other, a pattern that RE2 refuses, or an `enum` or `const` that does not fit the schema itself.
 */
export function assertValueSchema(value: unknown): ValueSchema | { readonly error: string } {
  const error = schemaFault(value)
  if (error !== undefined) return { error }
  // Each member has been examined.
  const schema = value as ValueSchema
  const { enum: listed, const: only, ...rest } = schema
  const check = createValueCheck(rest)
  const misfit = (listed ?? []).find((one) => check(one) !== undefined)
  if (misfit !== undefined) return { error: `enum must hold values of the schema, not ${JSON.stringify(misfit)}.` }
  if (only !== undefined && createValueCheck({ ...rest, ...(listed && { enum: listed }) })(only) !== undefined) {
    return { error: `const must be a value of the schema, not ${JSON.stringify(only)}.` }
  }
  return schema
}

/**
 * Makes the check of a schema; its pattern is compiled once.
 * @throws TypeError where `assertValueSchema` refuses the pattern.
 */
export function createValueCheck(schema: ValueSchema): ValueCheck {
  const search = schema.pattern === undefined ? undefined : searchOf(schema.pattern)
  const checks = [
    typeCheck(schema),
    ...(search ? [patternCheck(schema, search)] : []),
    ...boundChecks(schema),
    listCheck(schema),
  ]
  return (value) => {
    for (const check of checks) {
      const sentence = check(value)
      if (sentence !== undefined) return sentence
    }
    return undefined
  }
}

/** Checks one value: undefined where it fits, else a sentence. For many values, `createValueCheck`. */
export function valueFits(schema: ValueSchema, value: unknown): string | undefined {
  return createValueCheck(schema)(value)
}

function searchOf(pattern: string): Search {
  const search = compilePattern(pattern)
  if (typeof search === 'function') return search
  throw new TypeError(`pattern must ${search.error}`)
}

function typeCheck({ type }: ValueSchema): ValueCheck {
  const { is, rule } = TYPES[type]
  return (value) => (is(value) ? undefined : `The value must be ${rule}.`)
}

const TYPES: { readonly [T in LabelType]: { readonly is: (value: unknown) => boolean; readonly rule: string } } = {
  string: {
    is: (value) => typeof value === 'string' && isStorable(value) && lengthOf(value) <= VALUE_CHARACTERS_MAX,
    rule: `a text of at most ${VALUE_CHARACTERS_MAX} characters, none of them U+0000`,
  },
  integer: {
    is: (value) => Number.isSafeInteger(value) && !Object.is(value, -0),
    rule: `an integer from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`,
  },
  boolean: { is: (value) => typeof value === 'boolean', rule: 'true or false' },
}

function patternCheck({ pattern }: ValueSchema, search: Search): ValueCheck {
  return (value) => (search(String(value)) ? undefined : `The value must match ${pattern}.`)
}

/** Each bound, what it measures, and its sentence. */
const BOUNDS: readonly {
  readonly member: 'minLength' | 'maxLength' | 'minimum' | 'maximum'
  readonly admits: (value: LabelValue, bound: number) => boolean
  readonly rule: (bound: number) => string
}[] = [
  {
    member: 'minLength',
    admits: (value, bound) => lengthOf(value) >= bound,
    rule: (n) => `have at least ${characters(n)}`,
  },
  {
    member: 'maxLength',
    admits: (value, bound) => lengthOf(value) <= bound,
    rule: (n) => `have at most ${characters(n)}`,
  },
  { member: 'minimum', admits: (value, bound) => Number(value) >= bound, rule: (n) => `be at least ${n}` },
  { member: 'maximum', admits: (value, bound) => Number(value) <= bound, rule: (n) => `be at most ${n}` },
]

function boundChecks(schema: ValueSchema): readonly ValueCheck[] {
  return BOUNDS.flatMap(({ member, admits, rule }) => {
    const bound = schema[member]
    // The type has been checked before.
    return bound === undefined
      ? []
      : [(value) => (admits(value as LabelValue, bound) ? undefined : `The value must ${rule(bound)}.`)]
  })
}

/** Most values that a sentence lists. */
const NAMED_MAX = 10

function listCheck(schema: ValueSchema): ValueCheck {
  const lists = [schema.enum, schema.const === undefined ? undefined : [schema.const]].filter(
    (list) => list !== undefined,
  )
  return (value) => {
    const missed = lists.find((list) => !list.some((one) => one === value))
    if (missed === undefined) return undefined
    const more = missed.length > NAMED_MAX ? ', …' : ''
    return `The value must be ${missed.length === 1 ? '' : 'one of '}${missed.slice(0, NAMED_MAX).join(', ')}${more}.`
  }
}

function lengthOf(value: LabelValue): number {
  return Array.from(String(value)).length
}

function characters(count: number): string {
  return count === 1 ? '1 character' : `${count} characters`
}
