import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { pageQuery } from '../../src/shared/contract/fields.ts'
import { contract } from '../../src/shared/contract/index.ts'
import type { Operation } from '../../src/shared/contract/operation.ts'
import type { PROBLEMS } from '../../src/shared/problems.ts'
import { fixtureContract } from '../support/server/fixture-server.ts'
import { GUARDS } from './guards.ts'
import { LIST_ORDERS } from './list-orders.ts'
import { placedIn, type Placed } from './placed.ts'
import { scenarios } from './scenarios/all.ts'

const placed = placedIn(contract)

describe('no operation of the contract ships without', () => {
  describe.each(GUARDS)('$title', ({ missing }) => {
    it.each(placed)('$id', ({ operation }) => {
      expect(missing(operation)).toBeUndefined()
    })
  })

  it.each(placed)('a conformance scenario: $id', ({ id }) => {
    expect(scenarios[id]).toBeTypeOf('function')
  })
})

it('no two operations share an id, or a method and a path', () => {
  const ids = placed.map(({ id }) => id)
  const routes = placed.map(({ operation: { method, path } }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`)
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  expect(routes.filter((route, index) => routes.indexOf(route) !== index)).toEqual([])
})

it('every list has a declared order, and no other operation has one', () => {
  const lists = [...placed, ...placedIn(fixtureContract)].filter(({ operation }) => operation.paging !== undefined)
  expect(Object.keys(LIST_ORDERS).toSorted()).toEqual(lists.map(({ id }) => id).toSorted())
})

it('every operation is under the surface whose scopes cover it, and no surface is empty', () => {
  const counts = Object.values(contract).map(({ name, operations }) => [name, Object.keys(operations).length] as const)
  expect(counts.filter(([, count]) => count === 0)).toEqual([])
  expect(new Set(counts.map(([name]) => name)).size).toBe(counts.length)
})

/** A sound operation, to be spoilt. */
const sound = fixtureContract.fixture.operations.CreateThing as Operation

/** The same without a member. */
function without(member: keyof Operation): Operation {
  const { [member]: _gone, ...rest } = sound
  // What a contract that the type checker did not see may look like.
  return rest as Operation
}

const SPOILT: readonly (readonly [string, Operation])[] = [
  ['a gate', { ...sound, gate: {} }],
  ['a gate', { ...sound, gate: { open: ' ' } }],
  ['a gate', { ...sound, gate: { ...sound.gate, open: 'S0: both' } }],
  ['a gate', { ...sound, gate: { anyOf: [] } }],
  ['a gate', { ...sound, gate: { anyOf: [{ relation: 'manage', object: 'project:{path.other}' }] } }],
  ['a gate', { ...sound, gate: { anyOf: [{ relation: 'manage', object: 'project:{body.other}' }] } }],
  ['a gate', { ...sound, gate: { anyOf: [{ relation: '{path.other}', object: 'platform:main' }] } }],
  ['a gate', { ...sound, gate: { ...sound.gate, own: '{body.other}' } }],
  ['a gate', { ...sound, gate: { ...sound.gate, rows: [{ relation: 'read', object: 'project:{path.other}' }] } }],
  ['a gate', { ...sound, gate: { ...sound.gate, foldUnless: [{ relation: 'read', object: 'project:{path.other}' }] } }],
  ['a gate', { ...sound, gate: { own: '{row.owner}', rows: [] } }],
  ['a gate', { ...sound, gate: { allOf: [] } }],
  ['a gate', { ...sound, gate: { ...sound.gate, allOf: [{ relation: 'read', object: 'platform:main' }] } }],
  [
    'a gate',
    {
      ...sound,
      gate: { anyOf: [{ relation: 'read', object: 'platform:main', when: { member: 'other', is: 'x' } }] },
    },
  ],
  ['a gate', { ...without('body'), gate: { ...sound.gate, after: 'body' } }],
  ['a credential', { ...sound, credentials: [] }],
  ['an audit relation', { ...sound, audit: { none: '' } }],
  ['an audit relation', { ...sound, audit: { relation: '', when: 'all' } }],
  ['a body cap', without('bodyBytesMax')],
  ['a body cap', { ...sound, bodyBytesMax: 0 }],
  ['a body cap', without('body')],
  ['its problem codes', { ...sound, params: undefined } as unknown as Operation],
  ['its problem codes', { ...sound, problems: ['nonsense' as keyof typeof PROBLEMS] }],
  ['its problem codes', { ...sound, problems: ['slug_conflict', 'slug_conflict'] }],
  ['its problem codes', { ...sound, paging: { limit: 'rejected', cursor: 'operation' } }],
  [
    'its problem codes',
    { ...sound, query: z.strictObject(pageQuery), paging: { limit: 'clamped', cursor: 'operation' } },
  ],
  ['its problem codes', { ...sound, sentences: { token_not_found: 'It never answers this.' } }],
  ['its problem codes', { ...sound, sentences: { slug_conflict: 'no sentence' } }],
  ['ids other than zero', { ...sound, query: z.strictObject({ id: z.uuid() }) }],
  ['ids other than zero', { ...sound, body: z.strictObject({ ids: z.array(z.guid().optional()) }) }],
  ['ids other than zero', { ...sound, body: z.strictObject({ owner: z.string().regex(/^user:[0-9a-f-]{36}$/) }) }],
  ['a success answer', { ...sound, responses: {} }],
  ['a success answer', { ...sound, responses: { 400: null } }],
  ['a success answer', { ...sound, responses: { 200: null, 302: null } }],
  ['examples that fit its schemas, where it has any', { ...sound, examples: { body: { slug: 'No slug' } } }],
  ['examples that fit its schemas, where it has any', { ...without('body'), examples: { body: {} } }],
  [
    'examples that fit its schemas, where it has any',
    { ...sound, bodyMedia: ['application/json'], examples: { body: { slug: 'x' } } },
  ],
  ['examples that fit its schemas, where it has any', { ...sound, examples: { answers: { 201: { id: 'x' } } } }],
  ['examples that fit its schemas, where it has any', { ...sound, examples: { answers: { 204: {} } } }],
  [
    'examples that fit its schemas, where it has any',
    { ...sound, responses: { 200: z.object({}) }, examples: { answers: { 200: { unknown: 1 } } } },
  ],
  ['words for a stranger', { ...sound, summary: '' }],
]

describe('the guards find out what is missing', () => {
  it.each(SPOILT)('%s (%#)', (title, operation) => {
    const guard = GUARDS.find((one) => one.title === title)
    expect(guard?.missing(sound)).toBeUndefined()
    expect(guard?.missing(operation)).toBeTypeOf('string')
  })

  it('in a spoilt operation for each of them', () => {
    const spoilt = new Set(SPOILT.map(([title]) => title))
    expect(GUARDS.map(({ title }) => title).filter((title) => !spoilt.has(title))).toEqual([])
  })
})

it.each(placedIn(fixtureContract).map(({ id, operation }: Placed) => [id, operation] as const))(
  'the guards pass what the vocabulary can say: %s',
  (_, operation) => {
    expect(GUARDS.flatMap(({ missing }) => missing(operation) ?? [])).toEqual([])
  },
)
