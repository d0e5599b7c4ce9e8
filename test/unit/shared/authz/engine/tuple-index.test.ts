import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TupleIndex } from '../../../../../src/shared/authz/engine/tuple-index.ts'
import { YES } from '../../../../../src/shared/authz/engine/verdict.ts'
import { tupleTexts } from '../../../../support/authz/arbitraries.ts'
import { engineOf, tuple } from '../../../../support/authz/tuples.ts'
import { depth } from '../../../../support/run/depth.ts'

const SCHEMA = `
caveat weekday(day string) {
    day == "weekday"
}
caveat inside(place string) {
    place == "inside"
}
definition user {}
definition group {
    relation member: user | group#member | user with weekday | group#member with inside
}
definition folder {
    relation parent: folder
    relation home: folder
    relation reader: user | user:* | group#member | user with weekday | user with inside | group#member with weekday
    relation writer: user | user:* | group#member | user with weekday | user with inside | group#member with weekday
    relation banned: user | user:* | group#member | user with weekday | user with inside | group#member with weekday
    permission read = (reader + writer + parent->read) - banned
}
definition file {
    relation parent: folder
    relation home: folder
    relation reader: user | user:* | group#member | user with weekday | user with inside | group#member with weekday
    relation writer: user | user:* | group#member | user with weekday | user with inside | group#member with weekday
    relation banned: user | user:* | group#member | user with weekday | user with inside | group#member with weekday
    permission read = (reader + writer + parent->read) - banned
}
`

const READS = [0, 1, 2, 3].flatMap((at) => [0, 1, 2].map((user) => `folder:folder-${at}#read@user:user-${user}`))

function answers(ask: (text: string) => string): string[] {
  return READS.map((question) => {
    try {
      return ask(question)
    } catch (error) {
      return String(error)
    }
  })
}

/** Touches and removals of the same tuples again and again. */
const histories = tupleTexts('any').chain((texts) => {
  const step = fc.record({ text: fc.constantFrom(...texts), isTouch: fc.boolean() })
  return fc.array(step, { minLength: 10, maxLength: 120 })
})

test('after any touches and removals an index, or one made from its image, answers as one filled with what is left', () => {
  fc.assert(
    fc.property(histories, (history) => {
      const grown = engineOf(SCHEMA, [])
      const left = new Map<string, number>()
      for (const [revision, { text, isTouch }] of history.entries()) {
        const before = left.get(text)
        if (!isTouch) left.delete(text)
        else if (before === undefined) left.set(text, revision)
        const { index } = grown
        const applied = isTouch ? index.touch(tuple(text), before ?? revision) : index.remove(tuple(text))
        expect(applied).toBe((before !== undefined) === isTouch ? 'unchanged' : 'changed')
        if (revision % 7 === 0) firstRevisions(index)
      }
      const fresh = engineOf(SCHEMA, [])
      for (const [text, revision] of left) fresh.index.touch(tuple(text), revision)
      expect(answers(grown.ask)).toEqual(answers(fresh.ask))
      expect(sizes(grown.index)).toEqual(sizes(fresh.index))
      expect(firstRevisions(grown.index)).toEqual(firstRevisionsOf(left))
      const copy = engineOf(SCHEMA, [])
      // What a file gives back.
      copy.index.adopt({ ...grown.index.image(), ...JSON.parse(JSON.stringify(jsonOf(grown.index))) })
      expect(answers(copy.ask)).toEqual(answers(fresh.ask))
      expect(sizes(copy.index)).toEqual(sizes(fresh.index))
      expect(firstRevisions(copy.index)).toEqual(firstRevisionsOf(left))
      for (const text of left.keys()) expect(copy.index.remove(tuple(text))).toBe('changed')
      expect(sizes(copy.index)).toEqual({ objects: 0, sets: 0, edges: 0, conditions: 0 })
    }),
    { numRuns: depth({ ci: 150, deep: 5_000 }) },
  )
})

function jsonOf(index: TupleIndex) {
  const { names, conditions } = index.image()
  return { names, conditions }
}

const TYPES = ['user', 'group', 'folder', 'file']
const NAMES = TYPES.flatMap((type) => [0, 1, 2, 3].map((at) => `${type}:${type}-${at}`))

function firstRevisions(index: TupleIndex): Record<string, number> {
  const known = NAMES.flatMap((name) => {
    const [type = '', id = ''] = name.split(':')
    const object = index.objects.find(TYPES.indexOf(type), id, 0)
    return object < 0 ? [] : [[name, index.firstRevision(object)] as const]
  })
  return Object.fromEntries(known)
}

/** The same from the tuples themselves. */
function firstRevisionsOf(tuples: ReadonlyMap<string, number>): Record<string, number> {
  const all = [...tuples].map(([text, revision]) => {
    const { resource_type, resource_id, subject_type, subject_id } = tuple(text)
    return { resource: `${resource_type}:${resource_id}`, subject: `${subject_type}:${subject_id}`, revision }
  })
  const known = NAMES.flatMap((name) => {
    const asResource = all.filter(({ resource }) => resource === name)
    const first = asResource.length > 0 ? asResource : all.filter(({ subject }) => subject === name)
    return first.length === 0 ? [] : [[name, Math.min(...first.map(({ revision }) => revision))] as const]
  })
  return Object.fromEntries(known)
}

describe('the first revision of an object', () => {
  const found = (index: TupleIndex, type: number, id: string) => index.firstRevision(index.objects.find(type, id, 0))

  test('is that of its first tuple as a resource, though it was a subject before', () => {
    const { index } = engineOf(SCHEMA, [])
    index.touch(tuple('folder:top#parent@folder:f'), 3)
    expect(found(index, 2, 'f')).toBe(3)
    index.touch(tuple('folder:f#reader@user:u'), 9)
    index.touch(tuple('folder:f#writer@user:u'), 12)
    expect(found(index, 2, 'f')).toBe(9)
    index.remove(tuple('folder:f#reader@user:u'))
    expect(found(index, 2, 'f')).toBe(12)
    index.remove(tuple('folder:f#writer@user:u'))
    expect(found(index, 2, 'f')).toBe(3)
  })

  test('is the lowest of tuples that differ only in their caveat', () => {
    const { index } = engineOf(SCHEMA, [])
    index.touch(tuple('file:a#reader@user:u[inside]'), 4)
    index.touch(tuple('file:a#reader@user:u'), 5)
    expect(found(index, 3, 'a')).toBe(4)
    index.remove(tuple('file:a#reader@user:u[inside]'))
    expect(found(index, 3, 'a')).toBe(5)
  })

  test('ends where 32 bits do', () => {
    const { index } = engineOf(SCHEMA, [])
    index.touch(tuple('file:a#reader@user:u'), 2 ** 40)
    expect(found(index, 3, 'a')).toBe(2 ** 32 - 2)
  })
})

test('an index that was emptied holds nothing', () => {
  const texts = [
    'folder:f#parent@folder:g',
    'folder:f#reader@group:x#member',
    'group:x#member@user:u',
    'file:a#reader@user:*',
  ]
  const { index } = engineOf(SCHEMA, texts)
  expect(sizes(index)).toEqual({ objects: 6, sets: 4, edges: 4, conditions: 0 })
  for (const text of texts) index.remove(tuple(text))
  expect(sizes(index)).toEqual({ objects: 0, sets: 0, edges: 0, conditions: 0 })
})

function sizes({ objects, sets, edges, conditions }: TupleIndex) {
  return { objects: objects.size, sets: sets.size, edges: edges.size, conditions: conditions.size }
}

describe('what the schema does not have is left out', () => {
  const refused = [
    ['an unknown resource type', 'disk:a#reader@user:u'],
    ['an unknown relation', 'file:a#owner@user:u'],
    ['a permission in place of a relation', 'file:a#read@user:u'],
    ['an unknown subject type', 'file:a#reader@robot:r'],
    ['a subject type that may not stand there', 'file:a#parent@user:u'],
    ['a group in place of its members', 'file:a#reader@group:g'],
    ['a wildcard where none is allowed', 'group:g#member@user:*'],
    ['a caveat that may not stand there', 'group:g#member@user:u[inside]'],
    ['an unknown caveat', 'group:g#member@user:u[full_moon]'],
  ]
  test.each(refused)('%s', (_, text) => {
    const { index } = engineOf(SCHEMA, [])
    expect(index.touch(tuple(text), 0)).toBe('unknown')
    expect(index.remove(tuple(text))).toBe('unknown')
    expect(sizes(index)).toEqual({ objects: 0, sets: 0, edges: 0, conditions: 0 })
  })
})

describe('tuples that differ only in their caveat', () => {
  const bare = 'file:a#reader@user:u'
  const caveated = 'file:a#reader@user:u[inside]'
  const question = 'file:a#reader@user:u'

  test('hold together when one of them does', () => {
    const { ask, index } = engineOf(SCHEMA, [caveated])
    expect(ask(question)).toBe('unknown')
    index.touch(tuple(bare), 0)
    expect(ask(question)).toBe('yes')
  })

  test('are taken out one by one', () => {
    const { ask, index } = engineOf(SCHEMA, [bare, caveated, 'file:a#reader@user:u[weekday]'])
    index.remove(tuple(bare))
    expect(ask(question)).toBe('unknown')
    index.remove(tuple(caveated))
    expect(ask(question)).toBe('unknown')
    expect(index.remove(tuple(caveated))).toBe('unchanged')
    index.remove(tuple('file:a#reader@user:u[weekday]'))
    expect(ask(question)).toBe('no')
  })

  test('leave the one without a caveat', () => {
    const { ask, index } = engineOf(SCHEMA, [caveated, bare])
    index.remove(tuple(caveated))
    expect(ask(question)).toBe('yes')
    expect(index.conditions.size).toBe(0)
  })
})

describe('a tuple replaces', () => {
  const question = 'file:a#reader@user:u'
  const caveated = { ...tuple('file:a#reader@user:u[inside]'), caveat_context: { place: 'inside' } }

  test('the one of the same caveat, whatever values that gave', () => {
    const seen: unknown[] = []
    const { ask, index } = engineOf(SCHEMA, [], ({ context }) => {
      seen.push(context)
      return YES
    })
    expect(index.touch(caveated, 1)).toBe('changed')
    expect(index.touch(caveated, 1)).toBe('unchanged')
    expect(index.touch({ ...caveated, caveat_context: { place: 'outside' } }, 1)).toBe('changed')
    expect(ask(question)).toBe('yes')
    expect(seen).toEqual([{ place: 'outside' }])
  })
})

test('a relation past the thirty-second of its type is found like any other', () => {
  const names = Array.from({ length: 40 }, (_, at) => `rel_${at}_x`)
  const schema = `definition user {}
definition wide {
${names.map((name) => `    relation ${name}: user\n`).join('')}}
`
  const { ask, index } = engineOf(schema, [`wide:w#rel_35_x@user:u`, `wide:w#rel_39_x@user:u`])
  expect(names.filter((name) => ask(`wide:w#${name}@user:u`) === 'yes')).toEqual(['rel_35_x', 'rel_39_x'])
  index.remove(tuple('wide:w#rel_35_x@user:u'))
  expect(names.filter((name) => ask(`wide:w#${name}@user:u`) === 'yes')).toEqual(['rel_39_x'])
})

test('ids that are UUIDs and ids that are not live side by side', () => {
  const uuid = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
  const { ask, index } = engineOf(SCHEMA, [`file:${uuid}#reader@user:${uuid}`, `file:main#reader@user:a|b=c`])
  expect(ask(`file:${uuid}#reader@user:${uuid}`)).toBe('yes')
  expect(ask(`file:main#reader@user:a|b=c`)).toBe('yes')
  expect(ask(`file:${uuid}#reader@user:a|b=c`)).toBe('no')
  const file = index.objects.find(3, uuid, 0)
  expect(index.objects.idOf(file)).toBe(uuid)
})
