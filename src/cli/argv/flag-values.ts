import { mistypedError, usageError } from '../errors/cli-error.ts'
import { parseDuration } from './duration.ts'
import type { FlagSpec, FlagValue } from './flags.ts'

/** What was typed for a flag, and the value that it has from an earlier mention. */
export interface Typed {
  readonly name: string
  readonly spec: FlagSpec
  readonly text: string
  readonly before: FlagValue | undefined
}

/** Reads the text of a flag as its kind says; lists grow with each mention. Throws a usage error for a text that is no such value. */
export function readValue({ name, spec, text, before }: Typed): FlagValue {
  const parts = spec.kind === 'list' ? partsOf(text) : [text]
  refuseOthers(`--${name}`, parts, spec.choices)
  if (spec.kind === 'list' || spec.kind === 'many') return Array.isArray(before) ? [...before, ...parts] : parts
  if (spec.kind === 'integer' || spec.kind === 'number') return readNumber(name, spec, text)
  if (spec.kind === 'duration') return readDuration(name, text)
  return text
}

function refuseOthers(what: string, parts: readonly string[], choices: readonly string[] | undefined): void {
  const other = choices && parts.find((part) => !choices.includes(part))
  if (choices && other !== undefined) throw badChoice(what, other, choices)
}

function partsOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function readNumber(name: string, { kind }: FlagSpec, text: string): number {
  const wanted = kind === 'integer' ? /^-?\d{1,15}$/ : /^-?\d{1,15}(\.\d{1,15})?$/
  if (!wanted.test(text))
    throw usageError(`--${name} needs a ${kind === 'integer' ? 'whole number' : 'number'}, not "${text}"`)
  return Number(text)
}

function readDuration(name: string, text: string): number {
  const seconds = parseDuration(text)
  if (seconds === undefined) throw usageError(`--${name} needs a duration such as 30s, 15m, 12h or 90d, not "${text}"`)
  return seconds
}

/** The error for a value outside its choices; names them, and the nearest. */
export function badChoice(what: string, text: string, choices: readonly string[]): Error {
  const otherwise = `They are: ${choices.join(', ')}`
  return mistypedError(`${what} must be one of ${choices.join(', ')}, not "${text}"`, {
    word: text,
    known: choices,
    otherwise,
  })
}
