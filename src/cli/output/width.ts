/** Characters that take two columns: CJK, Hangul, full-width forms, emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}]/u
/** Characters that take none: combining marks, joiners, variation selectors. */
const NARROWEST = /\p{Mn}|\p{Cf}/u
const PLAIN = /^[\u0020-\u007e]*$/

/** How many terminal columns a text takes. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length
  let width = 0
  for (const character of text) width += widthOf(character)
  return width
}

function widthOf(character: string): number {
  if (NARROWEST.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}

/** The text in at most `columns` columns, ending in `…` where it was cut. */
export function fitted(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text
  let kept = ''
  let width = 1
  for (const character of text) {
    width += widthOf(character)
    if (width > columns) break
    kept += character
  }
  return `${kept}…`
}

/** The end of the text in at most `columns` columns, after `…` where it was cut: ids of one day begin alike. */
export function fittedEnd(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text
  return reversed(fitted(reversed(text), columns))
}

function reversed(text: string): string {
  return Array.from(text).toReversed().join('')
}

/** The text in lines of at most `columns` columns, broken between words, and within a word that is longer than a line. */
export function wrapped(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ').flatMap((each) => pieces(each, Math.max(2, columns)))) {
    const last = lines.at(-1)
    const joined = last === undefined ? word : `${last} ${word}`
    if (last !== undefined && displayWidth(joined) <= columns) lines[lines.length - 1] = joined
    else lines.push(word)
  }
  return lines
}

/** A word in pieces of at most that many columns, which are 2 or more: no character takes more. */
function pieces(word: string, columns: number): readonly string[] {
  const parts = ['']
  let width = 0
  for (const character of word) {
    width += widthOf(character)
    if (width > columns) {
      parts.push('')
      width = widthOf(character)
    }
    parts[parts.length - 1] += character
  }
  return parts
}

/** The text followed by spaces up to `columns`. */
export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)))
}
