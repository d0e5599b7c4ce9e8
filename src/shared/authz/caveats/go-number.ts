const DECIMAL = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d+))?$/

/** Digits beyond which a whole number is out of 64 bits anyway. */
const DIGITS_MAX = 40

/** Reads a decimal number that is whole: `42`, `1e3`, `2.0`. Undefined when it is none. */
export function intFromText(text: string): bigint | undefined {
  const parts = DECIMAL.exec(text)
  if (parts === null) return undefined
  const fraction = parts[3] ?? parts[4] ?? ''
  const digits = `${parts[2] ?? ''}${fraction}`.replace(/^0+/, '')
  if (digits === '') return 0n
  const exponent = Number(parts[5] ?? 0) - fraction.length
  const magnitude = wholeMagnitude(digits, exponent)
  return magnitude === undefined || parts[1] !== '-' ? magnitude : -magnitude
}

function wholeMagnitude(digits: string, exponent: number): bigint | undefined {
  const significant = digits.replace(/(?<!0)0+$/, '')
  const shift = exponent + digits.length - significant.length
  if (shift < 0) return undefined
  return significant.length + shift > DIGITS_MAX
    ? 10n ** BigInt(DIGITS_MAX)
    : BigInt(significant) * 10n ** BigInt(shift)
}

const INFINITE = /^([+-]?)(?:inf|Inf)$/

/** Reads a number. Undefined when it is none. */
export function doubleFromText(text: string): number | undefined {
  const infinite = INFINITE.exec(text)
  if (infinite !== null) return infinite[1] === '-' ? -Infinity : Infinity
  return DECIMAL.test(text) ? Number(text) : undefined
}
