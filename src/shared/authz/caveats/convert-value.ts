import { celUint, type CelInput } from '@bufbuild/cel'
import { parseDuration, parseTimestamp } from './go-time.ts'
import { ipAddressMessage } from './ip-message.ts'
import { doubleFromText, intFromText } from './go-number.ts'
import type { ValueType } from './value-type.ts'

/** Depth to which values may be nested in each other. */
const DEPTH_MAX = 100

/** A JSON value that does not fit the type of its parameter. */
export class ConversionError extends Error {
  constructor(expected: string) {
    super(`expected ${expected}`)
    this.name = 'ConversionError'
  }
}

/**
 * Converts a JSON value for an expression, as SpiceDB does: whole numbers from numbers or text, bytes from base64,
 * moments from RFC 3339, durations such as `1h30m`.
 * @throws ConversionError for a value that does not fit the type.
 */
export function convertValue(type: ValueType, value: unknown, depth = 0): CelInput {
  if (depth > DEPTH_MAX) throw new ConversionError(`values nested at most ${DEPTH_MAX} deep`)
  if (type.name === 'any') return anything(value, depth)
  if (type.of !== undefined) return type.name === 'list' ? list(type.of, value, depth) : map(type.of, value, depth)
  const converted = CONVERTERS[type.name]?.(value)
  if (converted === undefined) throw new ConversionError(`a value of the type ${type.name}`)
  return converted
}

const ANY: ValueType = { name: 'any', of: undefined }

function anything(value: unknown, depth: number): CelInput {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value
  return Array.isArray(value) ? list(ANY, value, depth) : map(ANY, value, depth)
}

function list(of: ValueType, value: unknown, depth: number): CelInput {
  if (!Array.isArray(value)) throw new ConversionError('a list')
  return value.map((element: unknown) => convertValue(of, element, depth + 1))
}

function map(of: ValueType, value: unknown, depth: number): CelInput {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ConversionError('a map')
  return new Map(Object.entries(value).map(([key, each]) => [key, convertValue(of, each, depth + 1)]))
}

/** Undefined for a value that does not fit. */
const CONVERTERS: { readonly [type: string]: (value: unknown) => CelInput | undefined } = {
  bool: (value) => (typeof value === 'boolean' ? value : undefined),
  string: (value) => (typeof value === 'string' ? value : undefined),
  int: wholeNumber,
  uint(value) {
    const int = wholeNumber(value)
    return int === undefined || int < 0n ? undefined : celUint(int)
  },
  double: (value) =>
    typeof value === 'string' ? doubleFromText(value) : typeof value === 'number' ? value : undefined,
  bytes: (value) => (typeof value === 'string' ? bytesFromBase64(value) : undefined),
  duration: (value) => (typeof value === 'string' ? parseDuration(value) : undefined),
  timestamp: (value) => (typeof value === 'string' ? parseTimestamp(value) : undefined),
  ipaddress: (value) => (typeof value === 'string' ? ipAddressMessage(value) : undefined),
}

const INT_MIN = -(2n ** 63n)
const INT_MAX = 2n ** 63n - 1n

/** Numbers beyond 64 bits are clamped, as in SpiceDB. */
function wholeNumber(value: unknown): bigint | undefined {
  const exact =
    typeof value === 'number' && Number.isInteger(value)
      ? BigInt(value)
      : typeof value === 'string'
        ? intFromText(value)
        : undefined
  if (exact === undefined) return undefined
  return exact > INT_MAX ? INT_MAX : exact < INT_MIN ? INT_MIN : exact
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

function bytesFromBase64(text: string): Uint8Array | undefined {
  const joined = text.replaceAll(/[\r\n]/g, '')
  if (!BASE64.test(joined)) return undefined
  return Uint8Array.from(atob(joined), (character) => character.charCodeAt(0))
}
