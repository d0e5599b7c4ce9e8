import { styleText } from 'node:util'
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
    (format: Parameters<typeof styleText>[0]) =>
    (text: string): string =>
      on && text !== '' ? styleText(format, text) : text
  return { bold: paint('bold'), dim: paint('dim'), good: paint('green'), warn: paint('yellow'), bad: paint('red') }
}

// eslint-like tools must not see control characters in the source, hence the escapes.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/** A text that cannot steer the terminal: control characters and direction marks become visible escapes. */
export function harmless(text: string): string {
  return text.replace(CONTROLS, (character) => {
    if (character === '\n') return '\\n'
    if (character === '\t') return '\\t'
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
