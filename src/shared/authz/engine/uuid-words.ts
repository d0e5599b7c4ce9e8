/** Value of each hex digit by character code; negative for everything that a canonical UUID does not hold. */
const DIGITS = new Int8Array(128).fill(-1)
for (let value = 0; value < 16; value++) DIGITS[value.toString(16).charCodeAt(0)] = value

const HYPHEN = 45

/** Where the groups of four digits start. */
const GROUPS = [0, 4, 9, 14, 19, 24, 28, 32] as const

/**
 * Reads a canonical lower-case UUID that runs from `from` to the end of the text into four 32-bit words, without
 * allocating. False, and the words are unspecified, for anything else.
 */
export function readUuid(text: string, from: number, words: Int32Array): boolean {
  if (text.length - from !== 36) return false
  if (text.charCodeAt(from + 8) !== HYPHEN || text.charCodeAt(from + 13) !== HYPHEN) return false
  if (text.charCodeAt(from + 18) !== HYPHEN || text.charCodeAt(from + 23) !== HYPHEN) return false
  let signs = 0
  for (let word = 0; word < 4; word++) {
    const high = readGroup(text, from + (GROUPS[word * 2] ?? 0))
    const low = readGroup(text, from + (GROUPS[word * 2 + 1] ?? 0))
    words[word] = (high << 16) | low
    signs |= high | low
  }
  return signs >= 0
}

/** Four hex digits as a number; negative when one of them is none. */
function readGroup(text: string, from: number): number {
  const a = digit(text.charCodeAt(from))
  const b = digit(text.charCodeAt(from + 1))
  const c = digit(text.charCodeAt(from + 2))
  const d = digit(text.charCodeAt(from + 3))
  return (a | b | c | d) < 0 ? -1 : (a << 12) | (b << 8) | (c << 4) | d
}

function digit(code: number): number {
  return code < 128 ? (DIGITS[code] ?? -1) : -1
}

/** The two hex digits of each byte. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** The canonical text of the four words at `from`. */
export function writeUuid(words: Int32Array, from: number): string {
  const [a = 0, b = 0, c = 0, d = 0] = [words[from], words[from + 1], words[from + 2], words[from + 3]]
  return `${half(a >>> 16)}${half(a)}-${half(b >>> 16)}-${half(b)}-${half(c >>> 16)}-${half(c)}${half(d >>> 16)}${half(d)}`
}

/** The lower 16 bits as four digits. */
function half(word: number): string {
  return (HEX[(word >>> 8) & 0xff] ?? '') + (HEX[word & 0xff] ?? '')
}
