import { LABEL_KINDS } from '../../../shared/labels/label-kinds.ts'
import { LABEL_TYPES, type LabelValue, type ValueSchema } from '../../../shared/labels/schema-types.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { FlagSpecs, FlagValues } from '../../argv/flags.ts'

/** The word for every kind of object. */
const ALL_KINDS = 'all'

/** What a Definition says, by flag. */
export const DEFINING = {
  type: { kind: 'text', value: 'TYPE', choices: LABEL_TYPES, describe: 'Type of the values' },
  enum: { kind: 'list', value: 'A,B', describe: 'Only these values' },
  const: { kind: 'text', value: 'VALUE', describe: 'Only this value' },
  pattern: { kind: 'text', value: 'RE2', describe: 'Texts must match; anywhere, unless it has ^ and $' },
  'min-length': { kind: 'integer', describe: 'Characters of a text at least' },
  'max-length': { kind: 'integer', describe: 'Characters of a text at most' },
  min: { kind: 'integer', describe: 'Smallest integer' },
  max: { kind: 'integer', describe: 'Largest integer' },
  'on-delete': {
    kind: 'text',
    value: 'WHAT',
    choices: ['block', 'cascade', 'orphan'],
    describe:
      'What deleting the Definition does while objects have the label: refuse, delete the labels, or keep them without a Definition',
  },
  immutable: { kind: 'switch', describe: 'A label cannot be changed or removed once it is set' },
  inherit: { kind: 'switch', describe: 'What belongs to a Project or Domain inherits its label' },
  kinds: {
    kind: 'list',
    value: 'A,B',
    choices: [...LABEL_KINDS, ALL_KINDS],
    describe: `Kinds of objects that may have it; ${ALL_KINDS} for every kind`,
  },
  description: { kind: 'text', describe: 'What it is for' },
} as const satisfies FlagSpecs

export type Defining = FlagValues<typeof DEFINING>

const SCHEMA_FLAGS = ['type', 'enum', 'const', 'pattern', 'min-length', 'max-length', 'min', 'max'] as const

/** Whether a flag says something of the values. */
export function saysValues(flags: Defining): boolean {
  return SCHEMA_FLAGS.some((name) => flags[name] !== undefined)
}

/**
 * The value schema that the flags make. With `--type` it is made of the flags alone, else they change single members of
 * `current`. Throws a usage error for values that are not of the type.
 */
export function valueSchema(flags: Defining, current?: ValueSchema): ValueSchema {
  const type = flags.type ?? current?.type ?? 'string'
  const typed = (name: string, text: string): LabelValue => labelValue(type as ValueSchema['type'], text, `--${name}`)
  const given = {
    enum: flags.enum?.map((text) => typed('enum', text)),
    const: flags.const === undefined ? undefined : typed('const', flags.const),
    pattern: flags.pattern,
    minLength: flags['min-length'],
    maxLength: flags['max-length'],
    minimum: flags.min,
    maximum: flags.max,
  }
  const named = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  // The parser has held the type to its choices.
  return { ...(flags.type === undefined ? current : {}), ...named, type: type as ValueSchema['type'] }
}

const INTEGER = /^-?\d{1,16}$/

/** A typed value as its Definition takes it. Throws a usage error that begins with `what` for one of another type. */
export function labelValue(type: ValueSchema['type'], text: string, what: string): LabelValue {
  if (type === 'boolean') {
    if (text === 'true' || text === 'false') return text === 'true'
    throw usageError(`${what} must be true or false, not "${text}"`)
  }
  if (type !== 'integer') return text
  const value = Number(text)
  if (INTEGER.test(text) && Number.isSafeInteger(value)) return value
  throw usageError(`${what} must be an integer, not "${text}"`)
}

/** The members of a body that need no more than their flag. */
export function plainMembers(flags: Defining): Readonly<Record<string, unknown>> {
  const { immutable, inherit, kinds, description } = flags
  const members = {
    on_delete: flags['on-delete'],
    immutable,
    inherit,
    kinds: kinds?.includes(ALL_KINDS) === true ? [] : kinds,
    description,
  }
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
