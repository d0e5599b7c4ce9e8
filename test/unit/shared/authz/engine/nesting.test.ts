import { describe, expect, test } from 'vitest'
import { indexNesting, nestingFault, NESTING_MAX } from '../../../../../src/shared/authz/engine/nesting.ts'
import { SERVICE_MODEL } from '../../../../../src/shared/authz/service-model.ts'
import { engineOf, tuple } from '../../../../support/authz/tuples.ts'

function fault(held: readonly string[], written: string, pending: readonly string[] = []) {
  const { index } = engineOf(SERVICE_MODEL, held)
  const graph = indexNesting(
    SERVICE_MODEL,
    index,
    pending.map((text) => tuple(text)),
  )
  return nestingFault(SERVICE_MODEL, graph, tuple(written))
}

const within = (outer: string, inner: string) => `group:${outer}#member@group:${inner}#member`

/** `g<from>` contains the next one, and so on up to `g<to>`. */
const chain = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => within(`g${from + at}`, `g${from + at + 1}`))

describe('a group may not contain itself', () => {
  test('directly', () => {
    expect(fault([], within('a', 'a'))).toBe('cycle')
  })

  test('through another', () => {
    expect(fault([within('a', 'b')], within('b', 'a'))).toBe('cycle')
  })

  test('through many', () => {
    expect(fault(chain(0, 30), within('g30', 'g0'))).toBe('cycle')
  })

  test('through what the same transaction has written', () => {
    expect(fault([within('a', 'b')], within('c', 'a'), [within('b', 'c')])).toBe('cycle')
  })

  test('but may contain the same group by two ways', () => {
    expect(fault([within('a', 'b'), within('a', 'c'), within('b', 'd')], within('c', 'd'))).toBeUndefined()
  })
})

describe(`groups nest ${NESTING_MAX} deep and no deeper`, () => {
  test('when the innermost is added', () => {
    expect(fault(chain(0, 39), within('g39', 'g40'))).toBeUndefined()
    expect(fault(chain(0, 40), within('g40', 'g41'))).toBe('too_deep')
  })

  test('when the outermost is added', () => {
    expect(fault(chain(1, 40), within('g0', 'g1'))).toBeUndefined()
    expect(fault(chain(1, 41), within('g0', 'g1'))).toBe('too_deep')
  })

  test('when two chains are joined', () => {
    expect(fault([...chain(0, 20), ...chain(21, 40)], within('g20', 'g21'))).toBeUndefined()
    expect(fault([...chain(0, 20), ...chain(21, 41)], within('g20', 'g21'))).toBe('too_deep')
  })

  test('counting what the same transaction has written', () => {
    expect(fault(chain(0, 20), within('g40', 'g41'), chain(20, 40))).toBe('too_deep')
  })

  test('along the longest way', () => {
    expect(fault([...chain(0, 40), within('g0', 'g40')], within('g40', 'g41'))).toBe('too_deep')
  })

  test('however roles hang above them', () => {
    const held = [...chain(0, 39), 'domain:acme#admin@group:g0#member', 'project:web#domain@domain:acme']
    expect(fault(held, within('g39', 'g40'))).toBeUndefined()
    expect(fault(chain(0, 40), 'domain:acme#admin@group:g0#member')).toBeUndefined()
  })
})

test('cycles that are in the data already do not keep the rule from ending', () => {
  const groups = Array.from({ length: 10 }, (_, at) => `c${at}`)
  const ring = groups.flatMap((outer) => groups.map((inner) => within(outer, inner)))
  expect(fault(ring, within('a', 'c0'))).toBeUndefined()
  expect(fault(ring, within('c1', 'c0'))).toBe('cycle')
})

test('members that are no groups cannot nest anything', () => {
  expect(fault([within('a', 'b')], 'group:b#member@user:ann')).toBeUndefined()
})
