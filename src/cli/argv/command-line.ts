import { CommanderError } from 'commander'
import type { Manifest } from '../../shared/contract/manifest-format.ts'
import type { Command } from './command.ts'
import { FlagReader, type ReadFlag } from './flag-reader.ts'
import { readValue } from './flag-values.ts'
import { ALL_SHARED, OUTPUT, specsOf, type FlagSpec, type FlagSpecs, type FlagValue } from './flags.ts'
import { lastFlag, shownFlag } from './joined-words.ts'
import { excessArgument, unknownFlag, valueMissing } from './mistakes.ts'
import { singular, unknownCommand, type Branch } from './tree.ts'

/** What a command line calls. */
export interface Called {
  readonly branch: Branch
  /** Absent for a noun by itself. */
  readonly command: Command | undefined
  /** Its help is wanted, whatever else was typed. */
  readonly asksHelp: boolean
  readonly flags: Readonly<Record<string, FlagValue>>
  /** Everything that was typed after its words, if it is raw. */
  readonly args: readonly string[]
}

/**
 * Reads a command line with commander. Only the noun that was typed registers its verbs, and only the verb that was
 * typed is loaded and registers its flags. Shared flags may come before either. Throws a usage error for an unknown word
 * or flag, for a value that a flag cannot have, for a missing value and for an argument too many.
 */
export async function readCommandLine(argv: readonly string[], root: Branch, manifest: Manifest): Promise<Called> {
  const source = { root, manifest, read: readValue, isLenient: false, asksHelp: mentionsHelp(argv) }
  const { place, error } = await walk(argv, source)
  const isBareNoun = error instanceof CommanderError && error.code === 'commander.help'
  if (error !== undefined && !isBareNoun) throw mistakeOf(error, place, root)
  return calledAt(place, source)
}

/** The part of a command line that has been typed, for completing what comes next. */
export interface Begun extends Omit<Called, 'asksHelp'> {
  /** The flag whose value comes next. */
  readonly open: FlagSpec | undefined
}

/** Reads what has been typed so far; what cannot be read yet is passed over, and values stay as typed. */
export async function readBegun(argv: readonly string[], root: Branch, manifest: Manifest): Promise<Begun> {
  const read: ReadFlag = ({ text }) => text
  const source = { root, manifest, read, isLenient: true, asksHelp: false }
  const { place, error } = await walk(argv, source)
  const called = calledAt(place, source)
  const isOpen = error instanceof CommanderError && error.code === 'commander.optionMissingArgument'
  const open = isOpen ? lastFlag(place.reader.typed.at(-1) ?? '', place.reader.specs)?.spec : undefined
  return { ...called, args: called.args.filter((word) => !isFlag(word)), open }
}

/** Tells whether a word is a flag; `-` alone is stdin, and a negative number is an argument. */
export function isFlag(word: string): boolean {
  return /^-[^\d.]/.test(word)
}

interface Source {
  readonly root: Branch
  readonly manifest: Manifest
  readonly read: ReadFlag
  readonly isLenient: boolean
  readonly asksHelp: boolean
}

/** How far the words of a command line lead. */
interface Place {
  readonly branch: Branch
  readonly reader: FlagReader
  readonly command: Command | undefined
  readonly rest: readonly string[]
}

interface Walked {
  readonly place: Place
  readonly error: unknown
}

async function walk(argv: readonly string[], source: Source): Promise<Walked> {
  let place: Place = { branch: source.root, reader: new FlagReader('ctl'), command: undefined, rest: argv }
  const enter: Enter = async (next) => {
    const { branch: before, reader } = place
    const branch = before.children.get(next.name()) ?? before
    const command = await branch.row?.load(source.manifest)
    place = { branch, reader: next, command, rest: reader.args.slice(1) }
    register(place, source, enter)
    if (!source.asksHelp) forward(reader, next)
  }
  register(place, source, enter)
  try {
    await place.reader.parseAsync(argv, { from: 'user' })
    return { place, error: undefined }
  } catch (error) {
    return { place, error }
  }
}

type Enter = (next: FlagReader) => Promise<void>

function register(place: Place, source: Source, enter: Enter): void {
  const { reader, command, rest } = place
  addWords(place, enter)
  const isUnread = command?.raw === true || (source.asksHelp && reader.commands.length === 0)
  if (isUnread || source.isLenient) reader.allowUnknownOption().allowExcessArguments()
  if (isUnread) return
  reader.addFlags(command === undefined ? AHEAD : specsOf(command), rest, source.read)
  reader.addArguments(command?.args ?? [])
}

function addWords({ branch, reader, command, rest }: Place, enter: Enter): void {
  const typed = wordsTyped(rest, branch)
  if (command !== undefined && typed.length === 0) return
  for (const word of typed.length > 0 ? typed : branch.children.keys()) reader.addCommand(readerOf(word, branch))
  // Only such readers are added.
  reader.hook('preSubcommand', (_, next) => enter(next as FlagReader))
  if (command) reader.action(() => undefined)
}

/** Shared flags before the command's words. The command decides which formats there are. */
const AHEAD: FlagSpecs = { ...ALL_SHARED, output: { kind: 'text', short: 'o', describe: OUTPUT.output.describe } }

/** The words below a branch that a command line mentions. After `--` there are only arguments. */
function wordsTyped(rest: readonly string[], branch: Branch): readonly string[] {
  const typed = new Set(beforeEnd(rest))
  return [...branch.children.keys()].filter((word) => typed.has(word) || typed.has(aliasOf(word, branch) ?? word))
}

function readerOf(word: string, branch: Branch): FlagReader {
  const reader = new FlagReader(word)
  const alias = aliasOf(word, branch)
  return alias === undefined ? reader : reader.alias(alias)
}

/** A noun may be typed in the singular. */
function aliasOf(word: string, { words, children }: Branch): string | undefined {
  const alias = singular(word)
  return words === '' && alias !== '' && !children.has(alias) ? alias : undefined
}

/** Gives the flags before a word to what reads those after it. */
function forward(from: FlagReader, to: FlagReader): void {
  for (const [name, value] of Object.entries(from.opts())) {
    if (!Object.hasOwn(to.specs, name)) throw unknownFlag(`--${name}`, to.specs)
    to.setOptionValue(name, value)
  }
}

function calledAt({ branch, command, reader, rest }: Place, { asksHelp }: Source): Called {
  const isRaw = command?.raw === true
  if (!isRaw) return { branch, command, asksHelp, flags: reader.opts(), args: reader.args }
  const args = asksHelp && !mentionsHelp(rest) ? [HELP, ...rest] : rest
  return { branch, command, asksHelp: false, flags: {}, args }
}

const HELP = '--help'

function mentionsHelp(words: readonly string[]): boolean {
  return beforeEnd(words).some((word) => word === HELP || word === '-h')
}

function beforeEnd(words: readonly string[]): readonly string[] {
  const end = words.indexOf('--')
  return end < 0 ? words : words.slice(0, end)
}

/** The errors that commander finds, in the words of this command line. */
const MISTAKES: Readonly<Record<string, (place: Place, root: Branch) => Error>> = {
  'commander.unknownCommand': ({ branch, reader }, root) =>
    unknownCommand(
      root,
      branch,
      reader.args.filter((word) => !isFlag(word)),
    ),
  'commander.unknownOption': ({ reader }) => unknownFlag(reader.args.find(isFlag) ?? '', reader.specs),
  'commander.optionMissingArgument': ({ reader }) => valueMissing(shownFlag(reader.typed.at(-1) ?? ''), reader.specs),
  'commander.excessArguments': ({ branch, reader, command }) =>
    excessArgument(branch.words, reader.args, command ?? {}),
}

function mistakeOf(error: unknown, place: Place, root: Branch): unknown {
  const mistake = error instanceof CommanderError ? MISTAKES[error.code] : undefined
  return mistake?.(place, root) ?? error
}
