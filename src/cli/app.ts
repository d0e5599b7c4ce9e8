import { isFlag, parseArguments } from './argv/argv.ts'
import { CliError, usageError } from './errors/cli-error.ts'
import type { Command, CommandRow } from './argv/command.ts'
import { EXIT, exitCodeAfter, type ExitCode } from './errors/exit-code.ts'
import { ALL_SHARED, specsOf, type SharedValues } from './argv/flags.ts'
import type { Layout } from './help/layout.ts'
import type { Io } from './output/io.ts'
import { commandRows } from './argv/registry.ts'
import { secretArgument } from './session/secrets.ts'
import type { Session } from './session/session.ts'
import { follow, growTree, nested, swapped, unknownWord, wordsLeft, type Branch } from './argv/tree.ts'
import type { Watched } from './output/watch.ts'
import type { Manifest } from '../shared/contract/manifest-format.ts'

export interface App {
  readonly io: Io
  readonly version: string
  readonly manifest: () => Manifest
  /** Has faults that nothing catches reported in a sentence. */
  readonly guard?: (() => void) | undefined
}

/** The log of a server keeps the whole stack of what ends it. */
const UNGUARDED = 'serve'

/** Runs one command line. Resolves to the exit code; failures have been reported by then. */
export async function runApp(argv: readonly string[], app: App): Promise<ExitCode> {
  try {
    refuseSecrets(argv)
    const root = growTree(commandRows(app.manifest()))
    const { branch, rest } = follow(root, asHelpFlag(root, argv))
    if (branch.row?.words !== UNGUARDED) app.guard?.()
    if (branch.row) return await runCommand({ ...app, branch, row: branch.row, rest })
    return await showBranch({ ...app, branch, rest })
  } catch (error) {
    const { createSession } = await import('./session/session.ts')
    return reported(error, createSession({ ...app, shared: sharedGuess(argv), flags: {} }), '')
  }
}

/** `ctl help nodes list` is `ctl nodes list --help`, except for the topics that help has itself. */
function asHelpFlag(root: Branch, argv: readonly string[]): readonly string[] {
  const [first, topic] = argv
  if (first !== 'help' || topic === undefined || isFlag(topic)) return argv
  return root.children.get('help')?.children.has(topic) === true ? argv : [...argv.slice(1), '--help']
}

interface Called extends App {
  readonly branch: Branch
  readonly rest: readonly string[]
}

async function runCommand(called: Called & { readonly row: CommandRow }): Promise<ExitCode> {
  const { branch, row, rest } = called
  const command = await row.load(called.manifest())
  if (asksHelp(rest, command)) return showCommand(called, command)
  const given = command.raw ? { flags: {}, positionals: rest } : parseArguments(rest, specsOf(command))
  if (!command.raw) assertCount(given.positionals, command, branch.words)
  const { createSession } = await import('./session/session.ts')
  const shared = sharedOf(given.flags, command)
  const watched = await watchedBy(called.io, shared)
  const session = createSession({ ...called, io: watched?.io ?? called.io, shared, flags: given.flags })
  try {
    const run = (): Promise<ExitCode | undefined | void> =>
      command.run(session, { args: given.positionals, flags: given.flags })
    const ended = await (watched?.repeat(run) ?? run())
    return exitCodeAfter(ended ?? EXIT.ok, called.io.isTerminated)
  } catch (error) {
    return await reported(error, session, row.words)
  } finally {
    await session.close()
  }
}

/** Where a look is to be repeated: what repeats it. */
async function watchedBy(io: Io, shared: SharedValues): Promise<Watched | undefined> {
  if (shared.watch === undefined) return undefined
  const { watching } = await import('./output/watch.ts')
  return watching(io, shared)
}

/** A command may give the name of a shared flag that it does not use a meaning of its own: `--output FILE`. */
function sharedOf(flags: SharedValues, { flags: own = {}, uses = [] }: Command): SharedValues {
  if (!('output' in own) || uses.includes('output')) return flags
  return Object.fromEntries(Object.entries(flags).filter(([name]) => name !== 'output'))
}

async function reported(error: unknown, session: Session, words: string): Promise<ExitCode> {
  const { reportFailure } = await import('./errors/failure.ts')
  return reportFailure(error, session, words)
}

function asksHelp(rest: readonly string[], { raw }: Command): boolean {
  const end = rest.indexOf('--')
  const before = end < 0 ? rest : rest.slice(0, end)
  return raw !== true && (before.includes('--help') || before.includes('-h'))
}

async function showCommand({ branch, io }: Called, command: Command): Promise<ExitCode> {
  const { commandHelp } = await import('./help/help.ts')
  io.stdout.write(commandHelp(branch, command, await layoutOf(io)))
  return EXIT.ok
}

/** Help for a noun or for everything; anything but help after it is a command that does not exist. */
async function showBranch({ branch, rest, io, manifest }: Called): Promise<ExitCode> {
  const [word] = wordsLeft(rest)
  if (word !== undefined) throw swapped(branch, rest) ?? nested(branch, word) ?? unknownWord(branch, rest)
  parseArguments(rest, ALL_SHARED)
  const layout = await layoutOf(io)
  if (branch.words === '') {
    const { rootHelp } = await import('./help/root-help.ts')
    io.stdout.write(rootHelp(manifest(), layout))
    return EXIT.ok
  }
  const { branchHelp } = await import('./help/help.ts')
  io.stdout.write(branchHelp(branch, layout))
  return EXIT.ok
}

async function layoutOf(io: Io): Promise<Layout> {
  const { styleOf } = await import('./output/style.ts')
  return { style: styleOf(io, io.stdout, false), columns: io.stdout.columns }
}

function assertCount(positionals: readonly string[], { args = [] }: Command, words: string): void {
  const last = args.at(-1)
  if (last?.many === true || positionals.length <= args.length) return
  const extra = positionals[args.length] ?? ''
  throw usageError(
    `"ctl ${words}" takes ${args.length === 0 ? 'no arguments' : `at most ${args.length}`}, and "${extra}" is one too many`,
    `See: ctl ${words} --help`,
  )
}

function refuseSecrets(argv: readonly string[]): void {
  const position = secretArgument(argv)
  if (position === undefined) return
  throw new CliError(`argument ${position} is a secret, and arguments show in process lists and shell histories`, {
    exitCode: EXIT.usage,
    code: 'secret_in_arguments',
    hints: ['Give it in CTL_TOKEN, in a file with --token-file, or on stdin. If that was a shared machine, revoke it.'],
  })
}

/** Enough of the flags to report a mistake in them in the form asked for. */
function sharedGuess(argv: readonly string[]): SharedValues {
  const text = argv.join(' ')
  const output = /(?:^|\s)(?:-o|--output)[ =]?(json|jsonl)(?:\s|$)/.exec(text)?.[1]
  return { ...(output !== undefined && { output }), ...(argv.includes('--no-color') && { 'no-color': true }) }
}
