import fc from 'fast-check'
import type { z } from 'zod'
import { jsonSchemaOf, type JsonSchema } from '../../src/shared/contract/json-schema.ts'
import type { AnySchema, Operation } from '../../src/shared/contract/operation.ts'
import type { ValidCall } from './scenario.ts'
import { layOut, type WireRequest } from './wire.ts'

/** A request that the contract forbids, and what was done to the valid one. */
export interface Mutation {
  readonly change: 'body' | 'bytes' | 'path' | 'query'
  readonly wire: WireRequest
  /** Whether the contract's schemas take it all the same. */
  readonly isValid: boolean
}

/**
 * Requests made wrong from a valid call: in the body (at least half of them, where there is one), in its bytes, in the
 * path, in the query. Each is against the contract by its own schemas, so that none is valid by accident.
 */
export function mutationsOf(operation: Operation, { input }: ValidCall): fc.Arbitrary<Mutation> {
  const valid = layOut(operation, input)
  const { body, params } = operation
  const ways: fc.WeightedArbitrary<Mutation>[] = [{ weight: 1, arbitrary: wrongQueries(operation, valid) }]
  if (params !== undefined) ways.push({ weight: 1, arbitrary: wrongPaths(operation, input) })
  if (body !== undefined) {
    ways.push({ weight: 3, arbitrary: wrongBodies(body, input['body'] ?? {}, valid) })
    ways.push({ weight: 1, arbitrary: brokenBytes(body, valid) })
  }
  return fc.oneof(...ways).filter((mutation) => !mutation.isValid)
}

/** Requests that the schemas take although few would send them: each member of body and query in turn, each unlikely value. */
export function unlikelyOf(operation: Operation, { input }: ValidCall): readonly WireRequest[] {
  const { body, query } = operation
  const inBody = Object.entries(input['body'] ?? {}).map(([name]) => name)
  const bodies = [...new Set([...(body ? membersIn(body) : []), ...inBody])].flatMap((name) =>
    UNLIKELY.map((value) => ({ ...input, body: { ...(input['body'] as object | undefined), [name]: value } })),
  )
  const queries = (query ? membersIn(query) : []).flatMap((name) =>
    UNLIKELY.filter((value) => typeof value === 'string').map((value) => ({ ...input, [name]: value })),
  )
  return [
    ...bodies.filter((changed) => body !== undefined && accepts(body, JSON.stringify(changed.body))),
    ...queries.filter((changed) => isQueryValid(operation, layOut(operation, changed).path.split('?')[1] ?? '')),
  ].map((changed) => layOut(operation, changed))
}

function membersIn(schema: AnySchema): readonly string[] {
  return Object.keys(jsonSchemaOf(schema, 'input').properties ?? {})
}

const UUID = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

/** Well-formed where they are taken at all, and still what a service may not expect. */
const UNLIKELY: readonly unknown[] = [
  'a',
  'x'.repeat(63),
  'x'.repeat(128),
  'x'.repeat(512),
  '\u202e\u{1f600}\u0301',
  "'; drop table domains; --",
  '%_\\',
  '{}',
  '*',
  'user:*',
  'user:',
  ':',
  '::',
  'group:a#',
  'platform:main',
  'domain:main',
  `user:${UUID}`,
  `USER:${UUID}`,
  `nonsense:${UUID}`,
  `group:${UUID}#member`,
  `project:${UUID}#read`,
  UUID,
  UUID.toUpperCase(),
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '0.0.0.0/0',
  '100.64.0.0/32',
  '255.255.255.255/33',
  '::/0',
  '100.64.0.0/-1',
  'Europe/Nowhere',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999999999Z',
  '2026-02-30T00:00:00+23:59',
  'A'.repeat(43) + '=',
  '0'.repeat(64),
  'viewer',
  'member',
  'domain',
  0,
  1,
  -1,
  0.5,
  60,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 53 - 1,
  1e21,
  true,
  null,
  [],
  {},
  [''],
  ['a', 'a'],
  ['0.0.0.0/0', '::1', 'x'],
  [UUID, UUID],
  ['*', 'audit:read'],
  { a: 1 },
  { a: 'b' },
  { '': '' },
  { keys: [] },
  { time_zone: 'Europe/Nowhere', days: [1], from: '23:59', to: '00:00' },
  { time_zone: 'UTC', days: [1, 1, 7], from: '08:00', to: '08:00' },
]

/** Values that parsers, databases and shells have stumbled over. */
const hostileText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    '\ud800',
    "'; drop table domains; --",
    '../../etc/passwd',
    '${jndi:ldap://x}',
    '\u202e',
    '\ufeff',
    '1e400',
    'null',
  ),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.integer({ min: 200, max: 5_000 }).map((length) => 'x'.repeat(length)),
)

const hostileNumber = fc.constantFrom(-1, 0, 0.5, 2 ** 31, 2 ** 53, -(2 ** 63), 1e21, 1.7e308)

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  hostileNumber,
  fc.constantFrom(null, true, [], {}, [[]], [null]),
  fc.jsonValue({ maxDepth: 3 }),
)

function wrongBodies(schema: AnySchema, body: unknown, valid: WireRequest): fc.Arbitrary<Mutation> {
  return fc
    .oneof(
      { weight: 1, arbitrary: hostileValue },
      { weight: 5, arbitrary: mutated(jsonSchemaOf(schema, 'input'), body) },
    )
    .map((wrong) => JSON.stringify(wrong))
    .map((text) => ({ change: 'body', isValid: accepts(schema, text), wire: { ...valid, ...asJson(text) } }))
}

/** One change somewhere in a value, where its schema says there is something to change. */
function mutated(schema: JsonSchema, value: unknown): fc.Arbitrary<unknown> {
  if (Array.isArray(value)) return mutatedArray(schema, value)
  if (typeof value !== 'object' || value === null) return hostileValue
  const members = Object.entries(value)
  const names = [...new Set([...Object.keys(schema.properties ?? {}), ...members.map(([name]) => name)])]
  const without = (name: string) => Object.fromEntries(members.filter(([own]) => own !== name))
  const stranger = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 })
  const added = fc.tuple(stranger, hostileValue).map(([name, more]) => ({ ...value, [name]: more }))
  if (names.length === 0) return added
  const one = fc.constantFrom(...names)
  const replaced = fc.tuple(one, fc.nat()).chain(([name]) => {
    const inner = mutated(schema.properties?.[name] ?? {}, Reflect.get(value, name))
    return inner.map((wrong) => ({ ...value, [name]: wrong }))
  })
  return fc.oneof(replaced, one.map(without), added)
}

function mutatedArray(schema: JsonSchema, value: readonly unknown[]): fc.Arbitrary<unknown> {
  const [first] = value
  const longer = fc.integer({ min: 65, max: 300 }).map((length) => Array.from({ length }, () => first ?? null))
  return fc.oneof(
    longer,
    mutated(schema.items ?? {}, first).map((wrong) => [wrong, ...value.slice(1)]),
  )
}

/** The body's bytes cut off, overwritten or repeated. */
function brokenBytes(schema: AnySchema, valid: WireRequest): fc.Arbitrary<Mutation> {
  const bytes = Buffer.from(valid.body ?? '{}')
  const at = fc.nat({ max: bytes.length - 1 })
  const cut = at.map((end) => bytes.subarray(0, end))
  const overwritten = fc.tuple(at, fc.nat({ max: 255 })).map(([index, byte]) => {
    const copy = Buffer.from(bytes)
    copy[index] = byte
    return copy
  })
  return fc
    .oneof(cut, overwritten, fc.constant(Buffer.concat([bytes, bytes])))
    .map((wrong) => ({ change: 'bytes', isValid: accepts(schema, wrong), wire: { ...valid, ...asJson(wrong) } }))
}

function wrongPaths(operation: Operation, input: Readonly<Record<string, unknown>>): fc.Arbitrary<Mutation> {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const text = hostileText.filter((wrong) => wrong !== '' && wrong.isWellFormed())
  return fc.tuple(fc.constantFrom(...names), text).map(([name, wrong]) => ({
    change: 'path',
    isValid: operation.params !== undefined && isValid(operation.params, { ...membersOf(input, names), [name]: wrong }),
    wire: layOut(operation, { ...input, [name]: wrong }),
  }))
}

function wrongQueries(operation: Operation, valid: WireRequest): fc.Arbitrary<Mutation> {
  const { query } = operation
  const known = query === undefined ? [] : Object.keys(jsonSchemaOf(query, 'input').properties ?? {})
  const unlikely = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 })
  const name = fc.oneof(fc.constantFrom('unknown_member', '__proto__', 'limit', 'cursor', ...known), unlikely)
  const value = hostileText.filter((text) => text.isWellFormed())
  const part = fc.tuple(name, value).map((pair) => pair.map(encodeURIComponent).join('='))
  const parts = fc.array(part, { minLength: 1, maxLength: 3 }).map((all) => all.join('&'))
  const broken = fc.constantFrom('%', '%zz', 'limit=%', 'a=%ff%fe', '=%c0%80')
  const [path = '', search] = valid.path.split('?')
  const added = fc.oneof({ weight: 4, arbitrary: parts }, { weight: 1, arbitrary: broken })
  return added.map((more) => {
    const whole = search === undefined ? more : `${search}&${more}`
    return { change: 'query', isValid: isQueryValid(operation, whole), wire: { ...valid, path: `${path}?${whole}` } }
  })
}

function isQueryValid({ query, paging }: Operation, text: string): boolean {
  if (!isDecodable(text)) return false
  const members = new URLSearchParams(text)
  const names = [...members.keys()]
  if (query === undefined || new Set(names).size < names.length) return false
  const { limit, cursor, ...rest } = Object.fromEntries(members)
  if (!isValid(query, { ...rest, ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) }))
    return false
  // Bounds and cursors are the edge's to judge, after the schema.
  return (
    paging !== undefined &&
    cursor === undefined &&
    (limit === undefined || paging.limit === 'clamped' || (Number(limit) >= 1 && Number(limit) <= 200))
  )
}

/** Whether every escape stands for a byte, and the bytes are UTF-8. */
function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

function membersOf(input: Readonly<Record<string, unknown>>, names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, input[name]]))
}

function asJson(body: string | Uint8Array): Pick<WireRequest, 'body' | 'headers'> {
  return { headers: { 'content-type': 'application/json' }, body }
}

/** Whether these bytes are a body that the contract takes, but for what no column can hold. */
function accepts(schema: AnySchema, body: string | Uint8Array): boolean {
  try {
    const text =
      typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
    return isValid(schema, text === '' ? {} : JSON.parse(text))
  } catch {
    return false
  }
}

function isValid(schema: AnySchema, value: unknown): boolean {
  // The contract's schemas are zod's; its types keep only what the type checker needs of them.
  const parsed = (schema as unknown as z.ZodType).safeParse(value)
  return parsed.success && !/\\u0000|\\ud[89a-f]|"__proto__"/.test(JSON.stringify(value))
}
