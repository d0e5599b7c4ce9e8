/** The type of a caveat's parameter: a name, and for `list` and `map` the element types. */
export interface ValueType {
  readonly name: string
  readonly of: ValueType | undefined
}

/** Types without a type of their own inside. `ipaddress` is SpiceDB's addition to those of CEL. */
export const PLAIN_TYPES: readonly string[] = [
  'any',
  'bool',
  'bytes',
  'double',
  'duration',
  'int',
  'ipaddress',
  'string',
  'timestamp',
  'uint',
]

/** Types that hold values of one type; maps have strings for keys. */
export const HOLDING_TYPES: readonly string[] = ['list', 'map']

/**
 * Reads the type as the schema spells it: `int`, `list<string>`, `map<list<any>>`. Undefined for an unknown type. Types
 * inside a plain one, `any<string>`, must exist and are ignored, as in SpiceDB.
 */
export function valueType(text: string): ValueType | undefined {
  const { name = '', within } = /^(?<name>\w+)(?:<(?<within>.+)>)?$/.exec(text)?.groups ?? {}
  const inner = within === undefined ? [] : apart(within).map(valueType)
  const [of] = inner
  if (inner.includes(undefined)) return undefined
  if (HOLDING_TYPES.includes(name)) return inner.length === 1 ? { name, of } : undefined
  return PLAIN_TYPES.includes(name) ? { name, of: undefined } : undefined
}

/** The texts between the commas that are inside no nested type. */
function apart(text: string): string[] {
  const texts = ['']
  let depth = 0
  for (const character of text) {
    if (character === '<') depth += 1
    if (character === '>') depth -= 1
    if (character === ',' && depth === 0) texts.push('')
    else texts[texts.length - 1] += character
  }
  return texts
}
