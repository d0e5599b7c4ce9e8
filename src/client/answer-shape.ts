import type { ManifestShape, ManifestType } from '../shared/contract/manifest-format.ts'

/** How strictly an answer is compared with its shape. */
export interface ShapeCheck {
  /**
   * The answer names its API version, so only lists and objects are checked, which code iterates. An older server lacks
   * members that were added later (S1 Versioning 2); its answers must stay usable.
   */
  readonly isKnownServer: boolean
}

/** How an answer differs from its shape, as a predicate such as `lacks "items"`. Undefined if it matches. */
export function shapeFault(value: unknown, shape: ManifestShape, check: ShapeCheck): string | undefined {
  // An empty list has no members to compare, so it is accepted only with an API version.
  const isEmpty = shape.type === 'array' && Array.isArray(value) && value.length === 0
  if (isEmpty && !check.isKnownServer) return 'is an empty list, and the server names no API version'
  return faultAt({ value, shape, path: '' }, check)
}

interface Place {
  readonly value: unknown
  readonly shape: ManifestShape
  /** Dotted, from the root of the answer; empty at the root. */
  readonly path: string
}

const IS_TYPE: Readonly<Record<ManifestType, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: (value) => typeof value === 'number',
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: isObject,
  json: () => true,
}

function faultAt({ value, shape, path }: Place, check: ShapeCheck): string | undefined {
  if (value === null && shape.nullable === true) return undefined
  if (!isContainer(shape) && check.isKnownServer) return undefined
  if (!IS_TYPE[shape.type](value)) return `${path === '' ? 'is' : `has in "${path}"`} no ${NAMES[shape.type]}`
  if (Array.isArray(value)) return itemsFault({ value, shape, path }, check)
  return isObject(value) ? membersFault({ value, shape, path }, check) : undefined
}

const NAMES: Readonly<Record<ManifestType, string>> = {
  string: 'text',
  integer: 'number',
  number: 'number',
  boolean: 'true or false',
  array: 'list',
  object: 'object',
  json: 'value',
}

function itemsFault(
  { value, shape: { items }, path }: Place & { readonly value: readonly unknown[] },
  check: ShapeCheck,
): string | undefined {
  if (items === undefined) return undefined
  for (const [index, item] of value.entries()) {
    const fault = faultAt({ value: item, shape: items, path: joined(path, String(index)) }, check)
    if (fault !== undefined) return fault
  }
  return undefined
}

type Members = Readonly<Record<string, unknown>>

function membersFault(place: Place & { readonly value: Members }, check: ShapeCheck): string | undefined {
  const { value, shape, path } = place
  const { fields = [], values } = shape
  const absent = fields.find(({ required, name }) => required && !Object.hasOwn(value, name))
  if (absent !== undefined && isNeeded(place, check)) return `lacks "${joined(path, absent.name)}"`
  for (const [name, member] of Object.entries(value)) {
    const known = fields.find((field) => field.name === name) ?? values
    const fault = known && faultAt({ value: member, shape: known, path: joined(path, name) }, check)
    if (fault !== undefined) return fault
  }
  return undefined
}

/**
 * With an API version, nested objects may lack any member; the answer itself may lack some of its required members, but
 * not all.
 */
function isNeeded({ value, shape, path }: Place & { readonly value: Members }, { isKnownServer }: ShapeCheck): boolean {
  if (!isKnownServer) return true
  return path === '' && !(shape.fields ?? []).some(({ name, required }) => required && Object.hasOwn(value, name))
}

function isContainer({ type }: ManifestShape): boolean {
  return type === 'array' || type === 'object'
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function joined(path: string, member: string): string {
  return path === '' ? member : `${path}.${member}`
}
