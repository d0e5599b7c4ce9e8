const LINE_BREAK = '\n'

/**
 * Texts as one, a line each, for PostgreSQL's `string_to_array(…, e'\n')`. In an array's own form each character is looked
 * at, and each quotation mark escaped, on either side; events are many and long. None gives an empty array.
 * @throws RangeError where one holds a line break, and for a single empty text.
 */
export function textLines(texts: readonly string[]): string {
  if (texts.some((text) => text.includes(LINE_BREAK))) throw new RangeError('a line of text holds a line break')
  if (texts.length === 1 && texts[0] === '') throw new RangeError('one empty text is no line')
  return texts.join(LINE_BREAK)
}
