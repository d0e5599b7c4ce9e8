const LINE_BREAK = '\n'

/**
 * Joins texts, one a line, for PostgreSQL's `string_to_array(…, e'\n')`. In the text form of arrays each character is examined
 * and each quotation mark escaped, on both sides; events are many and long. No texts give an empty array.
 * @throws RangeError where one holds a line break, and for a single empty text.
 */
export function textLines(texts: readonly string[]): string {
  if (texts.some((text) => text.includes(LINE_BREAK))) throw new RangeError('a line of text holds a line break')
  if (texts.length === 1 && texts[0] === '') throw new RangeError('one empty text is no line')
  return texts.join(LINE_BREAK)
}
