import { VALUE_CHARACTERS_MAX } from '../selectors/syntax.ts'
import { compilePattern } from './value-pattern.ts'

/** Most values of an `enum`. */
const ENUM_VALUES_MAX = 64

/** Members beside `type`, by the type that they are for. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  string: ['enum', 'const', 'pattern', 'minLength', 'maxLength'],
  integer: ['enum', 'const', 'minimum', 'maximum'],
  boolean: ['enum', 'const'],
}

type Members = Readonly<Record<string, unknown>>

/** The first fault of a value schema's shape, as a sentence; whether `enum` and `const` fit the rest is not looked at. */
export function schemaFault(value: unknown): string | undefined {
  if (!isObject(value)) return 'A value schema must be an object.'
  const { type, ...rest } = value
  const admitted = typeof type === 'string' && Object.hasOwn(MEMBERS, type) ? MEMBERS[type] : undefined
  if (admitted === undefined) return 'type must be string, integer or boolean.'
  const foreign = Object.keys(rest).find((name) => !admitted.includes(name))
  if (foreign !== undefined)
    return `A value schema of type ${String(type)} has no member ${JSON.stringify(foreign.slice(0, 40))}.`
  return memberFault(rest) ?? orderFault(rest, ['minLength', 'maxLength']) ?? orderFault(rest, ['minimum', 'maximum'])
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function memberFault(members: Members): string | undefined {
  for (const [name, value] of Object.entries(members)) {
    const sentence = SHAPES[name]?.(value)
    if (sentence !== undefined) return `${name} must ${sentence}`
  }
  return undefined
}

/** What is wrong with a member: the end of a sentence that begins with its name and `must`. */
const SHAPES: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  enum: enumFault,
  const: (value) => (value === null || typeof value === 'object' ? 'be a text, an integer or a boolean.' : undefined),
  pattern: patternFault,
  minLength: lengthFault,
  maxLength: lengthFault,
  minimum: integerFault,
  maximum: integerFault,
}

function enumFault(value: unknown): string | undefined {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= ENUM_VALUES_MAX
  return isList && new Set(value).size === value.length
    ? undefined
    : `be a list of 1 to ${ENUM_VALUES_MAX} different values.`
}

function patternFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'be a text.'
  const compiled = compilePattern(value)
  return typeof compiled === 'function' ? undefined : compiled.error
}

function lengthFault(value: unknown): string | undefined {
  const isLength = Number.isInteger(value) && Number(value) >= 0 && Number(value) <= VALUE_CHARACTERS_MAX
  return isLength ? undefined : `be an integer from 0 to ${VALUE_CHARACTERS_MAX}.`
}

function integerFault(value: unknown): string | undefined {
  return Number.isSafeInteger(value) ? undefined : 'be a safe integer.'
}

function orderFault(members: Members, [lower, upper]: readonly [string, string]): string | undefined {
  const [least, most] = [members[lower], members[upper]]
  return typeof least === 'number' && typeof most === 'number' && least > most
    ? `${lower} must be at most ${upper}.`
    : undefined
}
