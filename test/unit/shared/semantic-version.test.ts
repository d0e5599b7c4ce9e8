import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareVersions, isSemanticVersion, precedenceOf } from '../../../src/shared/semantic-version.ts'

/** Semantic Versioning 2.0.0, 11: each precedes the next. */
const RISING = [
  '0.0.0-0',
  '0.0.0',
  '0.0.9',
  '0.0.10',
  '1.0.0-alpha',
  '1.0.0-alpha.1',
  '1.0.0-alpha.beta',
  '1.0.0-beta',
  '1.0.0-beta.2',
  '1.0.0-beta.11',
  '1.0.0-rc.1',
  '1.0.0',
  '2.0.0',
  '2.1.0',
  '2.1.1',
  '10.0.0',
  '99999999999999999999.0.0',
  '100000000000000000000.0.0',
]

describe('A semantic version', () => {
  it.each(RISING.slice(1).map((version, at) => [RISING[at] ?? '', version] as const))('%s precedes %s', (a, b) => {
    expect(compareVersions(a, b)).toBe(-1)
    expect(compareVersions(b, a)).toBe(1)
    expect((precedenceOf(a) ?? '') < (precedenceOf(b) ?? '')).toBe(true)
  })

  it.each([
    ['1.0.0+1', '1.0.0+2'],
    ['1.0.0-rc.1+a', '1.0.0-rc.1'],
  ])('%s is as new as %s', (a, b) => {
    expect(compareVersions(a, b)).toBe(0)
  })

  it.each([
    '',
    '1',
    '1.2',
    'v1.2.3',
    '1.2.3 ',
    ' 1.2.3',
    '1.2.3.4',
    '01.2.3',
    '1.02.3',
    '1.2.3-',
    '1.2.3-01',
    '1.2.3-a..b',
    '1.2.3+',
    '1.2.3-ä',
    '1.2.3\n',
    `1.2.3-${'a'.repeat(123)}`,
  ])('is not %j, which precedes all versions', (text) => {
    expect(isSemanticVersion(text)).toBe(false)
    expect(precedenceOf(text)).toBeUndefined()
    expect(compareVersions(text, '0.0.0-0')).toBe(-1)
  })

  it.each(['0.0.0', '1.2.3-0', '1.2.3-0a', '1.2.3--', '1.2.3+01', `1.2.3-${'a'.repeat(122)}`])('is %s', (text) => {
    expect(isSemanticVersion(text)).toBe(true)
  })

  it('has a key whose bytes order versions as their precedence does', () => {
    const number = fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 1_000_000 }))
    const identifier = fc.oneof(
      number.map(String),
      fc.stringMatching(/^[0-9A-Za-z-]{1,6}$/).filter((text) => !/^\d+$/.test(text)),
    )
    const version = fc.record({ core: fc.tuple(number, number, number), pre: fc.array(identifier, { maxLength: 3 }) })
    fc.assert(
      fc.property(version, version, (a, b) => {
        const [one, other] = [textOf(a), textOf(b)]
        const keys = [precedenceOf(one) ?? '', precedenceOf(other) ?? '']
        expect(Math.sign(Buffer.compare(Buffer.from(keys[0] ?? ''), Buffer.from(keys[1] ?? '')))).toBe(precedence(a, b))
        expect(compareVersions(one, other)).toBe(precedence(a, b))
      }),
    )
  })
})

interface Parts {
  readonly core: readonly number[]
  readonly pre: readonly string[]
}

const textOf = ({ core, pre }: Parts): string => `${core.join('.')}${pre.length === 0 ? '' : `-${pre.join('.')}`}`

/** The rules of Semantic Versioning 2.0.0, 11, one after the other. */
function precedence(a: Parts, b: Parts): number {
  for (const [at, number] of a.core.entries()) {
    const other = b.core[at] ?? 0
    if (number !== other) return number < other ? -1 : 1
  }
  if (a.pre.length === 0 || b.pre.length === 0) return Math.sign(b.pre.length - a.pre.length)
  for (const [at, identifier] of a.pre.entries()) {
    const other = b.pre[at]
    if (other === undefined) return 1
    const order = identifierOrder(identifier, other)
    if (order !== 0) return order
  }
  return a.pre.length < b.pre.length ? -1 : 0
}

function identifierOrder(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [a, b].map((text) => /^\d+$/.test(text))
  if (isNumber && isOtherNumber) return Math.sign(Number(a) - Number(b))
  if (isNumber !== isOtherNumber) return isNumber === true ? -1 : 1
  if (a === b) return 0
  return a < b ? -1 : 1
}
