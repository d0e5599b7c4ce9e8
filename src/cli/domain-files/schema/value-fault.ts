import { isRow } from '../../output/members.ts'
import type { ValueSchema } from './value-schema.ts'

/** Where a value differs from its schema. */
export interface ValueFault {
  readonly path: readonly (string | number)[]
  /** What is expected there, e.g. `expected text`. */
  readonly message: string
  /** An unknown member, with those that are known. */
  readonly unknown?: { readonly word: string; readonly known: readonly string[] }
}

type Path = ValueFault['path']
type Check = (value: unknown, schema: ValueSchema, path: Path) => readonly ValueFault[]

/** Compares a value with its schema. Gives every fault of the first check that finds one, in the order of the value. */
export function valueFaults(value: unknown, schema: ValueSchema, path: Path = []): readonly ValueFault[] {
  for (const check of CHECKS) {
    const faults = check(value, schema, path)
    if (faults.length > 0) return faults
  }
  return []
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'members, "name: value"',
  null: 'null',
}

const IS_TYPE: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: Number.isSafeInteger,
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: isRow,
  null: (value) => value === null,
}

const ofType: Check = (value, { type }, path) => {
  if (type === undefined) return []
  const types = typeof type === 'string' ? [type] : type
  if (types.some((name) => IS_TYPE[name]?.(value) === true)) return []
  const message = `expected ${types.map((name) => NAMES[name] ?? name).join(' or ')}`
  return [{ path, message: isQuotable(value, types) ? `${message}; quote it: "${String(value)}"` : message }]
}

/** YAML reads 5432 as a number and true as a boolean. */
function isQuotable(value: unknown, types: readonly string[]): boolean {
  return types.includes('string') && ['number', 'boolean'].includes(typeof value)
}

const ofChoice: Check = (value, schema, path) => {
  if (schema.const !== undefined && value !== schema.const)
    return [{ path, message: `expected ${JSON.stringify(schema.const)}` }]
  if (schema.enum === undefined || schema.enum.includes(value)) return []
  const known = schema.enum.map(String)
  const message = `expected ${known.join(', ').replace(/, ([^,]*)$/, ' or $1')}`
  return [{ path, message, unknown: { word: String(value), known } }]
}

const ofText: Check = (value, { pattern, minLength = 0, maxLength = Infinity }, path) => {
  if (typeof value !== 'string') return []
  const characters = Array.from(value).length
  if (characters < minLength || characters > maxLength)
    return [{ path, message: `expected ${between(minLength, maxLength)} characters` }]
  if (pattern === undefined || new RegExp(pattern, 'u').test(value)) return []
  return [{ path, message: `expected text that matches ${pattern}` }]
}

const ofNumber: Check = (value, { minimum = -Infinity, maximum = Infinity }, path) => {
  if (typeof value !== 'number' || (value >= minimum && value <= maximum)) return []
  return [{ path, message: `expected ${between(minimum, maximum)}` }]
}

const ofList: Check = (value, { items, minItems = 0, maxItems = Infinity }, path) => {
  if (!Array.isArray(value)) return []
  if (value.length < minItems || value.length > maxItems)
    return [{ path, message: `expected ${between(minItems, maxItems)} entries` }]
  return items === undefined ? [] : value.flatMap((one, index) => valueFaults(one, items, [...path, index]))
}

const ofObject: Check = (value, schema, path) => {
  if (!isRow(value)) return []
  const { properties = {}, required = [] } = schema
  const missing = required.filter((name) => !Object.hasOwn(value, name))
  const faults = Object.entries(value).flatMap(([name, member]) => {
    const inner = Object.hasOwn(properties, name) ? properties[name] : otherMember(schema)
    if (inner !== undefined) return valueFaults(member, inner, [...path, name])
    const unknown = { word: name, known: Object.keys(properties) }
    return [{ path: [...path, name], message: `"${name}" is not known here`, unknown }]
  })
  return [...missing.map((name) => ({ path, message: `"${name}" is missing` })), ...faults]
}

/** The schema of members that are not named; undefined where there are none. */
function otherMember({ additionalProperties, properties }: ValueSchema): ValueSchema | undefined {
  if (additionalProperties === false) return undefined
  if (typeof additionalProperties === 'object') return additionalProperties
  return properties === undefined || additionalProperties === true ? {} : undefined
}

const CHECKS: readonly Check[] = [ofType, ofChoice, ofText, ofNumber, ofList, ofObject]

function between(least: number, most: number): string {
  if (most === Infinity) return `at least ${least}`
  return least === -Infinity || least === 0 ? `at most ${most}` : `${least} to ${most}`
}
