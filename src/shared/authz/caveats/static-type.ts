import type { ValueType } from './value-type.ts'

/** The static type of a value. `dyn` can be anything; a `param` represents a type that is not inferred yet. */
export interface StaticType {
  readonly kind: StaticKind
  /** The element type of a list, the key and value types of a map, the type behind a `type`. */
  readonly of: readonly StaticType[]
  /** Which parameter; 0 for every other kind. */
  readonly id: number
}

export type StaticKind =
  | 'bool'
  | 'bytes'
  | 'double'
  | 'duration'
  | 'dyn'
  | 'int'
  | 'ipaddress'
  | 'list'
  | 'map'
  | 'null_type'
  | 'param'
  | 'string'
  | 'timestamp'
  | 'type'
  | 'uint'

const plain = (kind: StaticKind): StaticType => ({ kind, of: [], id: 0 })

export const BOOL = plain('bool')
export const BYTES = plain('bytes')
export const DOUBLE = plain('double')
export const DURATION = plain('duration')
export const DYN = plain('dyn')
export const INT = plain('int')
export const IP_ADDRESS = plain('ipaddress')
export const NULL = plain('null_type')
export const STRING = plain('string')
export const TIMESTAMP = plain('timestamp')
export const UINT = plain('uint')

export const listOf = (element: StaticType): StaticType => ({ kind: 'list', of: [element], id: 0 })
export const mapOf = (key: StaticType, value: StaticType): StaticType => ({ kind: 'map', of: [key, value], id: 0 })
export const typeOf = (type: StaticType): StaticType => ({ kind: 'type', of: [type], id: 0 })
export const param = (id: number): StaticType => ({ kind: 'param', of: [], id })

/** SpiceDB declares `uint` to CEL as `int`, so that it compares with literals, and only passes values without sign. */
const PLAIN: { readonly [name: string]: StaticType } = {
  any: DYN,
  bool: BOOL,
  bytes: BYTES,
  double: DOUBLE,
  duration: DURATION,
  int: INT,
  ipaddress: IP_ADDRESS,
  string: STRING,
  timestamp: TIMESTAMP,
  uint: INT,
}

/** The type that CEL sees in a parameter. */
export function staticType({ name, of }: ValueType): StaticType {
  if (of === undefined) return PLAIN[name] ?? DYN
  return name === 'list' ? listOf(staticType(of)) : mapOf(STRING, staticType(of))
}

/** The type as text: `map(string, dyn)`. */
export function typeText({ kind, of }: StaticType): string {
  if (kind === 'param') return 'dyn'
  return of.length === 0 ? kind : `${kind}(${of.map(typeText).join(', ')})`
}
