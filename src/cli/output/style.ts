import type { Io, Sink } from './io.ts'

/** Text decoration for one stream: nothing at all where colour is not wanted. */
export interface Style {
  bold(text: string): string
  dim(text: string): string
  good(text: string): string
  warn(text: string): string
  bad(text: string): string
}

/** Decides by NO_COLOR and FORCE_COLOR, the flag, `TERM=dumb` and whether the stream is a terminal. */
export function styleOf(io: Io, sink: Sink, noColor: boolean): Style {
  const { NO_COLOR, FORCE_COLOR, TERM } = io.env
  const refused = noColor || (NO_COLOR !== undefined && NO_COLOR !== '') || TERM === 'dumb'
  const forced = FORCE_COLOR !== undefined && FORCE_COLOR !== '' && FORCE_COLOR !== '0'
  const on = !refused && (sink.isTty || forced)
  const paint =
    (begin: number, end: number) =>
    (text: string): string =>
      on && text !== '' ? `\u001b[${begin}m${text}\u001b[${end}m` : text
  return { bold: paint(1, 22), dim: paint(2, 22), good: paint(32, 39), warn: paint(33, 39), bad: paint(31, 39) }
}

/** Control characters (Cc), line separators, and the marks that turn the direction of text around. */
const CONTROLS = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** A text that cannot steer the terminal: control characters and direction marks become visible escapes. */
export function harmless(text: string): string {
  return text.replace(CONTROLS, (character) => {
    if (character === '\n') return '\\n'
    if (character === '\t') return '\\t'
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
