/**
 * Value of each hex digit by UTF-16 unit, so that no unit needs to be looked at before; negative for everything that a
 * canonical UUID does not hold.
 */
const DIGITS = new Int8Array(0x10000).fill(-1)
for (let value = 0; value < 16; value++) DIGITS[value.toString(16).charCodeAt(0)] = value

const HYPHEN = 45

/** The code unit of each digit. */
const DIGIT_UNITS = Uint8Array.from({ length: 16 }, (_, value) => value.toString(16).charCodeAt(0))

/**
 * Reads a canonical lower-case UUID that runs from `from` to the end of the text into four 32-bit words, without
 * allocating. False, and the words are unspecified, for anything else.
 */
export function readUuid(text: string, from: number, words: Int32Array): boolean {
  if (text.length - from !== 36) return false
  if (text.charCodeAt(from + 8) !== HYPHEN || text.charCodeAt(from + 13) !== HYPHEN) return false
  if (text.charCodeAt(from + 18) !== HYPHEN || text.charCodeAt(from + 23) !== HYPHEN) return false
  return readGroups(text, from, words)
}

/** Reads the digits between the hyphens; false when one of them is none. */
function readGroups(text: string, from: number, words: Int32Array): boolean {
  const a = readGroup(text, from)
  const b = readGroup(text, from + 4)
  const c = readGroup(text, from + 9)
  const d = readGroup(text, from + 14)
  const e = readGroup(text, from + 19)
  const f = readGroup(text, from + 24)
  const g = readGroup(text, from + 28)
  const h = readGroup(text, from + 32)
  words[0] = (a << 16) | b
  words[1] = (c << 16) | d
  words[2] = (e << 16) | f
  words[3] = (g << 16) | h
  return (a | b | c | d | e | f | g | h) >= 0
}

/** Four hex digits as a number; negative when one of them is none. */
function readGroup(text: string, from: number): number {
  const high = (digit(text, from) << 12) | (digit(text, from + 1) << 8)
  return high | (digit(text, from + 2) << 4) | digit(text, from + 3)
}

function digit(text: string, at: number): number {
  return DIGITS[text.charCodeAt(at)] ?? -1
}

/** The two hex digits of each byte. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** The canonical text of the four words at `from`. */
export function writeUuid(words: Int32Array, from: number): string {
  const [a = 0, b = 0, c = 0, d = 0] = [words[from], words[from + 1], words[from + 2], words[from + 3]]
  return `${half(a >>> 16)}${half(a)}-${half(b >>> 16)}-${half(b)}-${half(c >>> 16)}-${half(c)}${half(d >>> 16)}${half(d)}`
}

/** Appends the code units of that text. */
export function appendUuid(words: Int32Array, from: number, units: number[]): void {
  for (let at = 0; at < 8; at++) {
    const word = words[from + (at >> 1)] ?? 0
    appendHalf((at & 1) === 0 ? word >>> 16 : word, units)
    if (at >= 1 && at <= 4) units.push(HYPHEN)
  }
}

function appendHalf(word: number, units: number[]): void {
  for (let shift = 12; shift >= 0; shift -= 4) units.push(DIGIT_UNITS[(word >>> shift) & 0xf] ?? 0)
}

/** The lower 16 bits as four digits. */
function half(word: number): string {
  return (HEX[(word >>> 8) & 0xff] ?? '') + (HEX[word & 0xff] ?? '')
}
