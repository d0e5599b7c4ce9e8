import { ConfigError } from '../config/config-error.ts'

/** What a command has beside the flags of `ctl serve`. */
export interface OwnWords {
  /** Its operand, and how the sentence that asks for it goes on after `Name`; undefined where it has none. */
  readonly operand: string | undefined
  /** Flags with a value, and the word for it in a sentence: `{ '--new-key-file': 'FILE' }`. */
  readonly valued: Readonly<Record<string, string>>
  /** Flags without one. */
  readonly switches: readonly string[]
}

/** The words of a command line, apart. */
export interface TakenWords {
  /** Empty where the command has none. */
  readonly operand: string
  /** By flag; undefined where it is absent. */
  readonly valueOf: (flag: string) => string | undefined
  readonly has: (flag: string) => boolean
  /** Flags of `ctl serve`. */
  readonly rest: readonly string[]
}

/** Takes the words that the server does not have. @throws ConfigError for a missing operand or value, exit code 2 */
export function takeOwnWords(argv: readonly string[], { operand, valued, switches }: OwnWords): TakenWords {
  const values = new Map<string, string>()
  let rest = argv
  for (const [flag, word] of Object.entries(valued)) {
    const taken = takeValued(rest, flag, word)
    if (taken.value !== undefined) values.set(flag, taken.value)
    rest = taken.rest
  }
  const given = new Set(switches.filter((flag) => rest.includes(flag)))
  rest = rest.filter((word) => !given.has(word))
  const valueOf = (flag: string): string | undefined => values.get(flag)
  const has = (flag: string): boolean => given.has(flag)
  return { ...takeOperand(rest, operand), valueOf, has }
}

interface Valued {
  readonly value: string | undefined
  readonly rest: readonly string[]
}

function takeValued(argv: readonly string[], flag: string, word: string): Valued {
  const at = argv.findIndex((each) => each === flag || each.startsWith(`${flag}=`))
  const found = argv[at]
  if (found === undefined) return { value: undefined, rest: argv }
  const isAttached = found.length > flag.length
  const value = isAttached ? found.slice(flag.length + 1) : argv[at + 1]
  if (value === undefined || value === '') throw new ConfigError(2, `${flag} needs a value: ${flag} ${word}`)
  return { value, rest: argv.toSpliced(at, isAttached ? 1 : 2) }
}

/** The one word that is no flag of the server: the first one, or the last one. */
function takeOperand(argv: readonly string[], named: string | undefined): Pick<TakenWords, 'operand' | 'rest'> {
  if (named === undefined) return { operand: '', rest: argv }
  const [first] = argv
  const last = argv.at(-1)
  if (first !== undefined && !first.startsWith('-')) return { operand: first, rest: argv.slice(1) }
  if (last !== undefined && !last.startsWith('-')) return { operand: last, rest: argv.slice(0, -1) }
  throw new ConfigError(2, `Name ${named}`)
}
