import { CelScalar, celFunc, celUint, type CelFunc } from '@bufbuild/cel'
import { doubleFromText } from './go-number.ts'

const { BOOL, DOUBLE, INT, STRING, UINT } = CelScalar

/** Whole numbers as Go reads them: decimal digits, with a sign for `int`. */
const INT_TEXT = /^[+-]?\d{1,30}$/
const UINT_TEXT = /^\d{1,30}$/

/**
 * Conversions and comparisons of text as cel-go has them. Those of the library read `0x10` and blanks as numbers, print
 * large numbers as JavaScript does, and order text by its UTF-16 units.
 */
export function textFunctions(): CelFunc[] {
  return [
    celFunc('int', [STRING], INT, (text) => whole(text, INT_TEXT, [-(2n ** 63n), 2n ** 63n - 1n])),
    celFunc('uint', [STRING], UINT, (text) => celUint(whole(text, UINT_TEXT, [0n, 2n ** 64n - 1n]))),
    celFunc('double', [STRING], DOUBLE, (text) => {
      const value = doubleFromText(text)
      if (value === undefined) throw new Error('not a number')
      return value
    }),
    celFunc('string', [DOUBLE], STRING, doubleText),
    celFunc('_<_', [STRING, STRING], BOOL, (a, b) => compareText(a, b) < 0),
    celFunc('_<=_', [STRING, STRING], BOOL, (a, b) => compareText(a, b) <= 0),
    celFunc('_>_', [STRING, STRING], BOOL, (a, b) => compareText(a, b) > 0),
    celFunc('_>=_', [STRING, STRING], BOOL, (a, b) => compareText(a, b) >= 0),
  ]
}

function whole(text: string, form: RegExp, [min, max]: readonly [bigint, bigint]): bigint {
  const value = form.test(text) ? BigInt(text.replace(/^\+/, '')) : undefined
  if (value === undefined || value < min || value > max) throw new Error('not a whole number')
  return value
}

/** By code points, which is the order of their UTF-8. */
function compareText(a: string, b: string): number {
  const end = Math.min(a.length, b.length)
  for (let at = 0; at < end; at++) {
    const difference = rank(a.charCodeAt(at)) - rank(b.charCodeAt(at))
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** Surrogate pairs encode code points that sort after every other unit. */
const rank = (unit: number): number => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit)

/** As Go prints with `%g`: with an exponent, of two digits at least, below 1e-4 and from a million on. */
function doubleText(value: number): string {
  const odd = Object.is(value, -0) ? '-0' : ODD_DOUBLES.get(value)
  if (odd !== undefined) return odd
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e')
  const power = Number(exponent)
  if (power >= -4 && power < EXPONENT_FROM) return value.toString()
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

const ODD_DOUBLES = new Map([
  [Number.NaN, 'NaN'],
  [Infinity, '+Inf'],
  [-Infinity, '-Inf'],
])
const EXPONENT_FROM = 6
