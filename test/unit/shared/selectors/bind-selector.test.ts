import { describe, expect, test } from 'vitest'
import { bindSelector, nearestDefinition, type QueryScope } from '../../../../src/shared/selectors/bind-selector.ts'
import { canonicalSelector } from '../../../../src/shared/selectors/canonical-selector.ts'
import { parseSelector } from '../../../../src/shared/selectors/parse-selector.ts'
import type { Key } from '../../../../src/shared/selectors/syntax.ts'
import { definition, DEFINITIONS, DOMAIN, PROJECT } from './definitions.ts'

const bindAt = (at: QueryScope, text: string) =>
  bindSelector(parseSelector(text), (key) => nearestDefinition(DEFINITIONS, at, key), DEFINITIONS)

const bind = (text: string) => bindAt({}, text)

function keyOf(text: string): Key {
  const key = parseSelector(text).requirements[0]?.key
  if (key === undefined) throw new Error(`${text} is no key`)
  return key
}

describe('The Definition of a key', () => {
  test.each<[string, QueryScope, string | undefined]>([
    ['tier', {}, 'platform/tier'],
    ['tier', { domainId: DOMAIN }, `domain:${DOMAIN}/tier`],
    ['tier', { domainId: DOMAIN, projectId: PROJECT }, `project:${PROJECT}/tier`],
    ['tier', { domainId: PROJECT, projectId: DOMAIN }, 'platform/tier'],
    ['rack', { domainId: DOMAIN, projectId: PROJECT }, `domain:${DOMAIN}/rack`],
    ['rack', {}, undefined],
    ['platform/tier', { domainId: DOMAIN, projectId: PROJECT }, 'platform/tier'],
    [`domain:${DOMAIN}/tier`, {}, `domain:${DOMAIN}/tier`],
    [`project:${PROJECT}/tier`, { domainId: DOMAIN }, `project:${PROJECT}/tier`],
    [`domain:${PROJECT}/tier`, { domainId: DOMAIN }, undefined],
    ['platform/rack', { domainId: DOMAIN }, undefined],
  ])('%s, seen from %j', (text, at, expected) => {
    expect(nearestDefinition(DEFINITIONS, at, keyOf(text))?.qualifiedKey).toBe(expected)
    expect(nearestDefinition(DEFINITIONS.toReversed(), at, keyOf(text))?.qualifiedKey).toBe(expected)
  })
})

describe('A bound selector', () => {
  test('has Definitions for keys and typed values', () => {
    const { bound, errors } = bind('env in (prod,"a b"),cores in (4,-8),legacy!=true,cores<10,cores>-3,!region,tier')
    expect(errors).toEqual([])
    const outline = bound?.requirements.map(({ definition: { qualifiedKey }, ...rest }) => ({ qualifiedKey, ...rest }))
    expect(outline).toEqual([
      { op: 'in', qualifiedKey: 'platform/env', values: ['prod', 'a b'] },
      { op: 'in', qualifiedKey: 'platform/cores', values: [4, -8] },
      { op: 'notin', qualifiedKey: 'platform/legacy', values: [true] },
      { op: 'lt', qualifiedKey: 'platform/cores', value: 10 },
      { op: 'gt', qualifiedKey: 'platform/cores', value: -3 },
      { op: 'absent', qualifiedKey: 'platform/region' },
      { op: 'exists', qualifiedKey: 'platform/tier' },
    ])
  })

  test('of * has no requirements', () => {
    expect(bind('*')).toEqual({ bound: { requirements: [] }, errors: [] })
  })

  test('is made from a selector as well as from the outcome of the parser', () => {
    const { selector } = parseSelector('env=prod')
    if (selector === undefined) throw new Error('it is a selector')
    expect(bindSelector(selector, () => definition('platform/env')).errors).toEqual([])
  })
})

const wrongType = (offset: number, length: number, expected: readonly string[]) => ({
  code: 'wrong_type',
  offset,
  length,
  expected,
})

const LISTS = ['=', '==', '!=', 'in', 'notin']

describe('A selector that cannot be bound', () => {
  test.each([
    ['evn=prod', [{ code: 'unknown_key', offset: 0, length: 3, expected: ['env'] }]],
    ['!xyz', [{ code: 'unknown_key', offset: 1, length: 3, expected: [] }]],
    ['platform/regoin', [{ code: 'unknown_key', offset: 0, length: 15, expected: ['platform/region'] }]],
    [`domain:${PROJECT}/env`, [{ code: 'unknown_key', offset: 0, length: 47, expected: [] }]],
    ['env<5', [wrongType(3, 1, LISTS)]],
    ['legacy > 5', [wrongType(7, 1, LISTS)]],
    ['cores<many', [wrongType(6, 4, ['integer'])]],
    ['cores=1.5', [wrongType(6, 3, ['integer'])]],
    ['cores=+5', [wrongType(6, 2, ['integer'])]],
    ['cores=05', [wrongType(6, 2, ['integer'])]],
    ['cores=-0', [wrongType(6, 2, ['integer'])]],
    ['cores=""', [wrongType(6, 2, ['integer'])]],
    ['cores=9007199254740992', [wrongType(6, 16, ['integer'])]],
    ['cores in (1,two,"🚀")', [wrongType(12, 3, ['integer']), wrongType(16, 6, ['integer'])]],
    ['legacy=yes', [wrongType(7, 3, ['true', 'false'])]],
    ['legacy=True', [wrongType(7, 4, ['true', 'false'])]],
  ])('%s', (text, expected) => {
    const { bound, errors } = bind(text)
    expect(bound).toBeUndefined()
    expect(errors).toMatchObject(expected)
    expect(errors).toHaveLength(expected.length)
  })

  test.each([
    ['cores in (-9007199254740991,9007199254740991)', 'platform/cores in (-9007199254740991,9007199254740991)'],
    ['cores="5"', 'platform/cores=5'],
    ['legacy in ("true",false)', 'platform/legacy in (false,true)'],
  ])('%s can', (text, canonical) => {
    const { bound } = bind(text)
    expect(bound && canonicalSelector(bound)).toBe(canonical)
  })

  test.each([
    ['evn', 'No label evn is defined here. Did you mean env?'],
    ['xyz', 'No label xyz is defined here.'],
    ['env<5', 'platform/env has values of type string; < and > compare integers only.'],
    ['cores=x', '"x" must be an integer from -9007199254740991 to 9007199254740991.'],
    ['legacy=x', '"x" must be true or false.'],
  ])('%s: the sentence', (text, message) => {
    expect(bind(text).errors[0]?.message).toBe(message)
  })

  test('has the errors of its text and of its meaning in one pass, in the order of the text', () => {
    const { errors } = bind('evn=prod,a=,cores=x,b in (c d),nope')
    expect(errors.map(({ code, offset }) => [code, offset])).toEqual([
      ['unknown_key', 0],
      ['unexpected_token', 11],
      ['wrong_type', 18],
      ['unexpected_token', 28],
      ['unknown_key', 31],
    ])
  })

  test('has 64 errors at most, the first ones', () => {
    const values = Array(64).fill('x').join()
    const { errors } = bind(`nope,cores in (${values}),cores in (${values})`)
    expect(errors).toHaveLength(64)
    expect(errors[0]?.code).toBe('unknown_key')
    expect(errors.at(-1)?.offset).toBe(15 + 2 * 62)
  })

  test('names no Definition that it may not suggest', () => {
    const { errors } = bindSelector(parseSelector('evn'), () => undefined)
    expect(errors).toMatchObject([{ code: 'unknown_key', expected: [] }])
  })

  test('suggests keys for eight unknown ones at most', () => {
    const text = Array(10).fill('evn').join()
    expect(bind(text).errors.map(({ expected }) => expected.length)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 0, 0])
  })

  test('is refused at once with 10,000 Definitions and 32 long unknown keys', () => {
    const many = Array.from({ length: 10_000 }, (_, i) => definition(`platform/${'k'.repeat(120)}${i}`))
    const text = Array.from({ length: 32 }, (_, i) => `${'j'.repeat(120)}${i}`).join()
    const begun = performance.now()
    expect(bindSelector(parseSelector(text), () => undefined, many).errors).toHaveLength(32)
    expect(performance.now() - begun).toBeLessThan(1_000)
  })
})
