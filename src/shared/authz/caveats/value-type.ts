/** The type of a caveat's parameter: a name, and for `list` and `map` what they hold. */
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

/** Reads the type as the schema spells it: `int`, `list<string>`, `map<list<any>>`. Undefined when there is none such. */
export function valueType(text: string): ValueType | undefined {
  const names = text.replace(/>+$/, '').split('<')
  const closing = text.length - text.replace(/>+$/, '').length
  const last = names.pop()
  if (last === undefined || !PLAIN_TYPES.includes(last) || closing !== names.length) return undefined
  if (names.some((name) => !HOLDING_TYPES.includes(name))) return undefined
  return names.reduceRight<ValueType>((of, name) => ({ name, of }), { name: last, of: undefined })
}
