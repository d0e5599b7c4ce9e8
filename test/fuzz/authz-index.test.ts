import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { TupleIndex } from '../../src/shared/authz/engine/tuple-index.ts'
import { compileSchema } from '../../src/shared/authz/language/compile.ts'
import { parseSchema } from '../../src/shared/authz/language/parser.ts'
import type { TupleColumns } from '../../src/shared/authz/tuple.ts'
import { depth } from '../support/run/depth.ts'
import { viewOf } from './authz/index-view.ts'
import { columnsOf, type FuzzTuple } from './authz/world.ts'

const MODEL = compileSchema(
  parseSchema(`use expiration
caveat inside(place string) {
    place == "inside"
}
definition user {}
definition group {
    relation member: user | user with inside | user with expiration | group#member | group#all_of | group#member with inside
    relation guest: user:* | user:* with inside | user | user with inside and expiration
    permission all_of = member
}
definition doc {
    relation parent: doc
    relation reader: user | group#member | group#all_of with inside
    permission read = reader + parent->read
}
`),
)

const users = fc.constantFrom('user:a', 'user:b')
const groups = fc.constantFrom('group:a', 'group:b', 'group:c')
const docs = fc.constantFrom('doc:a', 'doc:b')
const contexts = fc.constantFrom({}, { context: { place: 'inside' } }, { context: { place: 'outside' } })
const caveats = contexts.map((context) => ({ caveat: 'inside', ...context }))
const expiries = fc.constantFrom({ expires: 'past' as const }, { expires: 'future' as const })
const plain = fc.constant({})

function tuples(ends: {
  resource: fc.Arbitrary<string>
  relation: string
  subject: fc.Arbitrary<string>
  condition: fc.Arbitrary<Partial<FuzzTuple>>
}): fc.Arbitrary<FuzzTuple> {
  const { resource, subject, condition } = ends
  return fc.tuple(resource, subject, condition).map(([object, bearer, conditions]) => {
    return { resource: object, relation: ends.relation, subject: bearer, ...conditions }
  })
}

const setsOf = (relation: string) => groups.map((group) => `${group}#${relation}`)
const anyTuple = fc.oneof(
  tuples({ resource: groups, relation: 'member', subject: users, condition: fc.oneof(plain, caveats, expiries) }),
  tuples({ resource: groups, relation: 'member', subject: setsOf('member'), condition: fc.oneof(plain, caveats) }),
  tuples({ resource: groups, relation: 'member', subject: setsOf('all_of'), condition: plain }),
  tuples({ resource: groups, relation: 'guest', subject: fc.constant('user:*'), condition: fc.oneof(plain, caveats) }),
  tuples({ resource: docs, relation: 'parent', subject: docs, condition: plain }),
  tuples({ resource: docs, relation: 'reader', subject: fc.oneof(users, setsOf('member')), condition: plain }),
  tuples({ resource: docs, relation: 'reader', subject: setsOf('all_of'), condition: caveats }),
)

interface Kept {
  readonly tuple: FuzzTuple
  readonly revision: number
}

/** What there shall be, by resource, relation, subject and caveat. */
interface Plain {
  readonly kept: Map<string, Kept>
  revision: number
}

interface Real {
  index: TupleIndex
}

const keyOf = ({ resource, relation, subject, caveat = '' }: FuzzTuple): string =>
  `${resource}#${relation}@${subject}[${caveat}]`

const conditionOf = ({ context, expires }: FuzzTuple): string => JSON.stringify([context, expires])

class Touch implements fc.Command<Plain, Real> {
  readonly tuple: FuzzTuple
  /** Whether it comes with the revision of the tuple that is there, as one that is told twice does. */
  readonly isRepeated: boolean
  constructor(tuple: FuzzTuple, isRepeated: boolean) {
    this.tuple = tuple
    this.isRepeated = isRepeated
  }
  check(): boolean {
    return true
  }
  run(plainModel: Plain, { index }: Real): void {
    plainModel.revision++
    const before = plainModel.kept.get(keyOf(this.tuple))
    const revision = this.isRepeated && before !== undefined ? before.revision : plainModel.revision
    const isThere = revision === before?.revision && conditionOf(before.tuple) === conditionOf(this.tuple)
    expect(index.touch(columnsOf(this.tuple), revision)).toBe(isThere ? 'unchanged' : 'changed')
    if (!isThere) plainModel.kept.set(keyOf(this.tuple), { tuple: this.tuple, revision })
    expectSame(plainModel, index)
  }
  toString(): string {
    return `${this.isRepeated ? 'repeat' : 'touch'} ${JSON.stringify(this.tuple)}`
  }
}

class Remove implements fc.Command<Plain, Real> {
  readonly tuple: FuzzTuple
  constructor(tuple: FuzzTuple) {
    this.tuple = tuple
  }
  check(): boolean {
    return true
  }
  run(plainModel: Plain, { index }: Real): void {
    const isThere = plainModel.kept.delete(keyOf(this.tuple))
    expect(index.remove(columnsOf(this.tuple))).toBe(isThere ? 'changed' : 'unchanged')
    expectSame(plainModel, index)
  }
  toString(): string {
    return `remove ${JSON.stringify(this.tuple)}`
  }
}

/** Goes on with an index made from the image of the other. */
class Copy implements fc.Command<Plain, Real> {
  check(): boolean {
    return true
  }
  run(plainModel: Plain, real: Real): void {
    const copy = new TupleIndex(MODEL)
    copy.adopt(real.index.image())
    real.index = copy
    expectSame(plainModel, copy)
  }
  toString(): string {
    return 'copy'
  }
}

function expectSame({ kept }: Plain, index: TupleIndex): void {
  const fresh = new TupleIndex(MODEL)
  for (const { tuple, revision } of kept.values()) fresh.touch(columnsOf(tuple), revision)
  const seen = viewOf(index, MODEL)
  expect(seen).toEqual(viewOf(fresh, MODEL))
  const edges = [...new Set([...kept.values()].map(({ tuple }) => keyOf(tuple).replace(/\[.*$/, '')))]
  expect(seen.forwards).toEqual(edges.toSorted())
  expect(seen.backwards).toEqual(edges.toSorted())
}

test('after every touch and removal an index is, in all its parts, one that was filled with what is left', () => {
  const commands = fc.commands(
    [
      fc.tuple(anyTuple, fc.boolean()).map(([tuple, isRepeated]) => new Touch(tuple, isRepeated)),
      anyTuple.map((tuple) => new Remove(tuple)),
      fc.constant(new Copy()),
    ],
    { size: 'max', maxCommands: 60 },
  )
  fc.assert(
    fc.property(commands, (steps) => {
      fc.modelRun(() => ({ model: { kept: new Map(), revision: 0 }, real: { index: new TupleIndex(MODEL) } }), steps)
    }),
    { numRuns: depth({ ci: 60, deep: 3_000 }) },
  )
})

test('the tuples of those commands are ones that the schema allows', () => {
  const samples: TupleColumns[] = fc.sample(anyTuple, 300).map(columnsOf)
  const index = new TupleIndex(MODEL)
  expect(samples.filter((columns) => index.touch(columns, 1) === 'unknown')).toEqual([])
})
