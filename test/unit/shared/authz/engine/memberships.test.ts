import { describe, expect, test } from 'vitest'
import { engineOf, tuple } from '../../../../support/authz/tuples.ts'

const SCHEMA = `caveat inside(place string) {
    place == "inside"
}
definition user {}
definition group {
    relation member: user | user with inside | group#member | group#member with inside
    relation open: user | user:* | group#open
    relation mixed: user | group#mixed | group#both
    permission both = member & mixed
}
definition doc {
    relation reader: user | group#member | group#mixed
    permission read = reader
}
`

/** The document is read by the outermost of three groups in groups. */
const NESTED = ['doc:d#reader@group:a#member', 'group:a#member@group:b#member', 'group:b#member@group:c#member']

const many = (count: number, name: (at: number) => string): string[] =>
  Array.from({ length: count }, (_, at) => name(at))

describe('groups in groups', () => {
  test('grant to members of the innermost, and to nobody else', () => {
    const { ask } = engineOf(SCHEMA, [...NESTED, 'group:c#member@user:ann', 'group:x#member@user:bob'])
    expect(ask('doc:d#read@user:ann')).toBe('yes')
    expect(ask('doc:d#read@user:bob')).toBe('no')
    expect(ask('doc:d#read@user:nobody')).toBe('no')
  })

  test('grant to a set that is among them, and to none that is not', () => {
    const { ask } = engineOf(SCHEMA, [...NESTED, 'group:x#member@group:c#member'])
    expect(ask('doc:d#read@group:c#member')).toBe('yes')
    expect(ask('doc:d#read@group:x#member')).toBe('no')
  })

  test('hold everyone where everyone is in one of them', () => {
    const open = ['group:a#open@group:b#open', 'group:b#open@group:c#open', 'group:c#open@user:*']
    const { ask } = engineOf(SCHEMA, open)
    expect(ask('group:a#open@user:ann')).toBe('yes')
    expect(ask('group:a#open@group:x#open')).toBe('no')
  })

  test('grant by the best of the ways there, whichever was written first', () => {
    const bound = 'group:b#member@user:ann[inside]'
    const inner = 'group:c#member@user:ann'
    expect(engineOf(SCHEMA, [...NESTED, bound]).ask('doc:d#read@user:ann')).toBe('unknown')
    expect(engineOf(SCHEMA, [...NESTED, bound, inner]).ask('doc:d#read@user:ann')).toBe('yes')
    expect(engineOf(SCHEMA, [...NESTED, inner, bound]).ask('doc:d#read@user:ann')).toBe('yes')
  })

  test('depend on the condition of a group in a group', () => {
    const tuples = ['doc:d#reader@group:a#member', 'group:a#member@group:b#member[inside]', 'group:b#member@user:ann']
    expect(engineOf(SCHEMA, tuples).ask('doc:d#read@user:ann')).toBe('unknown')
  })

  test('grant through a set of a permission, whose members no walk from below can tell', () => {
    const tuples = ['doc:d#reader@group:a#mixed', 'group:a#mixed@group:b#both', 'group:b#mixed@user:ann']
    expect(engineOf(SCHEMA, tuples).ask('doc:d#read@user:ann')).toBe('no')
    expect(engineOf(SCHEMA, [...tuples, 'group:b#member@user:ann']).ask('doc:d#read@user:ann')).toBe('yes')
  })

  test('grant no more once one is taken out of another', () => {
    const { ask, index } = engineOf(SCHEMA, [...NESTED, 'group:c#member@user:ann', 'doc:e#reader@user:ann'])
    index.remove(tuple('group:b#member@group:c#member'))
    expect(ask('doc:d#read@user:ann')).toBe('no')
    expect(ask('doc:e#read@user:ann')).toBe('yes')
    index.touch(tuple('group:a#member@group:c#member'), 0)
    expect(ask('doc:d#read@user:ann')).toBe('yes')
  })

  test.each([63, 64, 65, 200])('grant to a member of %i others', (count) => {
    const others = many(count, (at) => `group:other${at}#member@user:ann`)
    expect(engineOf(SCHEMA, [...NESTED, ...others]).ask('doc:d#read@user:ann')).toBe('no')
    expect(engineOf(SCHEMA, [...NESTED, ...others, 'group:c#member@user:ann']).ask('doc:d#read@user:ann')).toBe('yes')
    expect(engineOf(SCHEMA, [...NESTED, 'group:c#member@user:ann', ...others]).ask('doc:d#read@user:ann')).toBe('yes')
  })

  test('grant to whoever was granted many documents too', () => {
    const documents = many(100, (at) => `doc:other${at}#reader@user:ann`)
    const { ask } = engineOf(SCHEMA, [...documents, ...NESTED, 'group:c#member@user:ann', 'doc:last#reader@user:ann'])
    expect(ask('doc:d#read@user:ann')).toBe('yes')
    expect(ask('doc:last#read@user:ann')).toBe('yes')
  })
})

describe('an index made from an image', () => {
  const deep = many(51, (at) => `group:g${at}#member@group:g${at + 1}#member`)

  test('knows how deep groups are nested', () => {
    const copy = engineOf(SCHEMA, [])
    copy.index.adopt(engineOf(SCHEMA, deep).index.image())
    expect(() => copy.ask('group:g0#member@user:ann')).toThrow('nested deeper than 50 tuples')
  })

  test('finds who is in groups in groups', () => {
    const copy = engineOf(SCHEMA, [])
    copy.index.adopt(engineOf(SCHEMA, [...NESTED, 'group:c#member@user:ann']).index.image())
    expect(copy.ask('doc:d#read@user:ann')).toBe('yes')
    expect(copy.ask('doc:d#read@user:bob')).toBe('no')
  })
})

test('nesting groups one way and the other again and again does not count as nesting them deeply', () => {
  const { ask, index } = engineOf(SCHEMA, [...NESTED, 'group:c#member@user:ann'])
  for (let turn = 0; turn < 100; turn++) {
    const [outer, inner] = turn % 2 === 0 ? ['x', 'y'] : ['y', 'x']
    index.touch(tuple(`group:${outer}#member@group:${inner}#member`), 0)
    index.remove(tuple(`group:${outer}#member@group:${inner}#member`))
  }
  expect(index.nestingMax).toBe(2)
  expect(ask('doc:d#read@user:ann')).toBe('yes')
})
