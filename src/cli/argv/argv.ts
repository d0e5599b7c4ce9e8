import { mistypedError, usageError } from '../errors/cli-error.ts'
import { parseDuration } from './duration.ts'
import { ALL_SHARED, type FlagSpec, type FlagSpecs, type FlagValue } from './flags.ts'

export interface Parsed {
  readonly flags: Readonly<Record<string, FlagValue>>
  readonly positionals: readonly string[]
}

/** One flag as typed: the rest of the arguments begins after it. */
interface Typed {
  readonly name: string
  readonly spec: FlagSpec
  readonly text: string | boolean
  readonly consumed: number
}

/**
 * Splits a command's arguments into flags and positionals: `--name value`, `--name=value`, `--no-name` for switches,
 * `-n value`, `-nvalue`, grouped switches `-yq`, and `--` before what only looks like a flag. Throws a usage error for
 * an unknown flag, with the nearest known one, for a missing value and for one that its kind cannot read.
 */
export function parseArguments(args: readonly string[], specs: FlagSpecs): Parsed {
  const flags: Record<string, FlagValue> = {}
  const positionals: string[] = []
  for (let index = 0; index < args.length;) {
    const word = args[index] ?? ''
    if (word === '--') {
      positionals.push(...args.slice(index + 1))
      break
    }
    if (!isFlag(word)) {
      positionals.push(word)
      index += 1
      continue
    }
    for (const typed of readFlags(args, index, specs)) {
      flags[typed.name] = merged(flags[typed.name], typed)
      index += typed.consumed
    }
  }
  return { flags, positionals }
}

/** Tells whether a word is a flag; `-` alone is stdin. */
export function isFlag(word: string): boolean {
  return word.length > 1 && word.startsWith('-')
}

/** Reads the flag at `index`, or several when letters are grouped. Together they consume what belongs to them. */
export function readFlags(args: readonly string[], index: number, specs: FlagSpecs): readonly Typed[] {
  const word = args[index] ?? ''
  return word.startsWith('--') ? [readLong(args, index, specs)] : readShort(args, index, specs)
}

function readLong(args: readonly string[], index: number, specs: FlagSpecs): Typed {
  const word = (args[index] ?? '').slice(2)
  const equals = word.indexOf('=')
  const [name, joined] = equals < 0 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)]
  const spec = specNamed(name, specs)
  if (spec) return withValue({ name, spec, joined, shown: `--${name}` }, args[index + 1])
  const negated = name.startsWith('no-') ? specNamed(name.slice(3), specs) : undefined
  if (negated?.kind !== 'switch' || joined !== undefined) throw unknownFlag(`--${name}`, specs)
  return { name: name.slice(3), spec: negated, text: false, consumed: 1 }
}

function specNamed(name: string, specs: FlagSpecs): FlagSpec | undefined {
  return Object.hasOwn(specs, name) ? specs[name] : undefined
}

function readShort(args: readonly string[], index: number, specs: FlagSpecs): readonly Typed[] {
  const letters = (args[index] ?? '').slice(1)
  const found: Typed[] = []
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at] ?? ''
    const [name, spec] = Object.entries(specs).find(([, { short }]) => short === letter) ?? []
    if (name === undefined || spec === undefined) throw unknownFlag(`-${letter}`, specs)
    const rest = letters.slice(at + 1).replace(/^=/, '')
    if (spec.kind === 'switch') {
      found.push({ name, spec, text: true, consumed: at === letters.length - 1 ? 1 : 0 })
      continue
    }
    found.push(withValue({ name, spec, joined: rest === '' ? undefined : rest, shown: `-${letter}` }, args[index + 1]))
    break
  }
  return found
}

interface Found {
  readonly name: string
  readonly spec: FlagSpec
  readonly joined: string | undefined
  readonly shown: string
}

function withValue({ name, spec, joined, shown }: Found, next: string | undefined): Typed {
  if (spec.kind === 'switch') {
    if (joined === undefined) return { name, spec, text: true, consumed: 1 }
    if (joined === 'true' || joined === 'false') return { name, spec, text: joined === 'true', consumed: 1 }
    throw usageError(`${shown} takes no value`)
  }
  if (joined !== undefined) return { name, spec, text: joined, consumed: 1 }
  if (spec.kind === 'optional') return { name, spec, text: '', consumed: 1 }
  if (next === undefined || (next.startsWith('--') && next.length > 2))
    throw usageError(`${shown} needs a value`, `Write it as ${shown} ${valueName(spec)}`)
  return { name, spec, text: next, consumed: 2 }
}

function merged(before: FlagValue | undefined, typed: Typed): FlagValue {
  const value = valueOf(typed)
  return Array.isArray(value) && Array.isArray(before) ? [...before, ...value] : value
}

function valueOf({ name, spec, text }: Typed): FlagValue {
  if (typeof text === 'boolean') return text
  const parts = partsOf(spec, text)
  for (const part of parts) {
    if (spec.choices && !spec.choices.includes(part)) throw badChoice(`--${name}`, part, spec.choices)
  }
  if (spec.kind === 'list' || spec.kind === 'many') return parts
  if (spec.kind === 'integer' || spec.kind === 'number') return readNumber(name, spec, text)
  if (spec.kind === 'duration') return readDuration(name, text)
  return text
}

function partsOf({ kind }: FlagSpec, text: string): readonly string[] {
  if (kind !== 'list') return [text]
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

/** Flags of other command lines, with what does the same here and the flag that it takes. */
const MEANT: Readonly<Record<string, { readonly flag: string; readonly write: string }>> = {
  verbose: { flag: 'debug', write: '--debug' },
  v: { flag: 'debug', write: '--debug' },
  json: { flag: 'output', write: '-o json' },
  yaml: { flag: 'output', write: '-o yaml' },
  wide: { flag: 'output', write: '-o wide' },
  format: { flag: 'output', write: '-o FORMAT' },
  force: { flag: 'yes', write: '--yes' },
  server: { flag: 'url', write: '--url URL' },
  host: { flag: 'url', write: '--url URL' },
  endpoint: { flag: 'url', write: '--url URL' },
}

const SEE_HELP = 'For the flags of this command, add: --help'

function unknownFlag(shown: string, specs: FlagSpecs): Error {
  const word = shown.replace(/^-+/, '')
  const meant = Object.hasOwn(MEANT, word) ? MEANT[word] : undefined
  if (meant !== undefined && Object.hasOwn(specs, meant.flag))
    return usageError(`unknown flag ${shown}`, `Did you mean ${meant.write}?`)
  if (Object.hasOwn(ALL_SHARED, word)) return usageError(`this command does not take ${shown}`, SEE_HELP)
  const listed = Object.entries(specs).filter(([, { hidden }]) => hidden !== true)
  return mistypedError(`unknown flag ${shown}`, {
    word,
    known: listed.map(([name]) => name),
    suggest: (near) => `Did you mean --${near}?`,
    otherwise: SEE_HELP,
  })
}

const VALUE_NAMES = {
  switch: '',
  text: 'TEXT',
  integer: 'N',
  number: 'N',
  duration: 'DURATION',
  list: 'A,B',
  many: 'TEXT',
  optional: 'TEXT',
}

/** What help calls the value of a flag. */
export function valueName(spec: FlagSpec): string {
  return spec.value ?? VALUE_NAMES[spec.kind]
}
