import { mistypedError, usageError } from '../errors/cli-error.ts'
import type { Command } from './command.ts'
import { ALL_SHARED, specNamed, valueName, type FlagSpecs } from './flags.ts'

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

/** The error for a flag as typed, with its value if that was joined, which the command does not take. */
export function unknownFlag(typed: string, specs: FlagSpecs): Error {
  const [shown = ''] = typed.split('=')
  const word = shown.replace(/^-+/, '')
  if (specNamed(specs, word)?.kind === 'switch') return usageError(`${shown} takes no value`)
  const secret = secretFlag(specs, (name) => name === `${word}-file`)
  if (secret !== undefined) return secretInWords(`unknown flag ${shown}`, secret)
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

/** The error for a flag without the value that it needs. `shown` is the flag as typed. */
export function valueMissing(shown: string, specs: FlagSpecs): Error {
  const word = shown.replace(/^-+/, '')
  const [, spec] = Object.entries(specs).find(([name, { short }]) => [name, short].includes(word)) ?? []
  return usageError(`${shown} needs a value`, ...(spec ? [`Write it as ${shown} ${valueName(spec)}`] : []))
}

/** The error for the first argument that a command has no place for. It is not repeated where it may be a secret. */
export function excessArgument(
  words: string,
  typed: readonly string[],
  { args = [], flags = {} }: Pick<Command, 'args' | 'flags'>,
): Error {
  const takes = args.length === 0 ? 'no arguments' : `at most ${args.length}`
  const secret = secretFlag(flags, () => true)
  if (secret !== undefined) return secretInWords(`"ctl ${words}" takes ${takes}, and there is one too many`, secret)
  return usageError(
    `"ctl ${words}" takes ${takes}, and "${typed[args.length] ?? ''}" is one too many`,
    `See: ctl ${words} --help`,
  )
}

function secretFlag(specs: FlagSpecs, isMeant: (name: string) => boolean): string | undefined {
  return Object.entries(specs).find(([name, { isSecret }]) => isSecret === true && isMeant(name))?.[0]
}

function secretInWords(message: string, flag: string): Error {
  return usageError(
    message,
    `A secret is read from a file, since other users can see the command line: --${flag} FILE, or --${flag} - for stdin`,
  )
}
