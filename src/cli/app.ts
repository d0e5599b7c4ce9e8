import { isFlag, readCommandLine, type Called } from './argv/command-line.ts'
import { CliError } from './errors/cli-error.ts'
import type { Command } from './argv/command.ts'
import { EXIT, exitCodeAfter, type ExitCode } from './errors/exit-code.ts'
import type { SharedValues } from './argv/flags.ts'
import type { Layout } from './help/layout.ts'
import type { Io } from './output/io.ts'
import { commandRows } from './argv/registry.ts'
import { secretArgument } from './session/secrets.ts'
import type { Session } from './session/session.ts'
import { growTree, type Branch } from './argv/tree.ts'
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
    const called = await readGuarded(asHelpFlag(root, argv), root, app)
    const { branch, command, asksHelp } = called
    if (command === undefined || asksHelp) return await showHelp(app, branch, command)
    return await runCommand(app, command, called)
  } catch (error) {
    const { createSession } = await import('./session/session.ts')
    return reported(error, createSession({ ...app, shared: sharedGuess(argv), flags: {} }), '')
  }
}

async function readGuarded(argv: readonly string[], root: Branch, { manifest, guard }: App): Promise<Called> {
  let isGuarded = true
  try {
    const called = await readCommandLine(argv, root, manifest())
    isGuarded = called.branch.words !== UNGUARDED
    return called
  } finally {
    if (isGuarded) guard?.()
  }
}

/** `ctl help nodes list` is `ctl nodes list --help`, except for the topics that help has itself. */
function asHelpFlag(root: Branch, argv: readonly string[]): readonly string[] {
  const [first, topic] = argv
  if (first !== 'help' || topic === undefined || isFlag(topic)) return argv
  return root.children.get('help')?.children.has(topic) === true ? argv : [...argv.slice(1), '--help']
}

async function runCommand(app: App, command: Command, { branch, args, flags }: Called): Promise<ExitCode> {
  const { createSession } = await import('./session/session.ts')
  const shared = sharedOf(flags, command)
  const watched = await watchedBy(app.io, shared)
  const session = createSession({ ...app, io: watched?.io ?? app.io, shared, flags })
  try {
    const run = (): Promise<ExitCode | undefined | void> => command.run(session, { args, flags })
    const isOver = (code: ExitCode): boolean => command.endsWatch === true && code === EXIT.ok
    const ended = await (watched?.repeat(run, isOver) ?? run())
    return exitCodeAfter(ended ?? EXIT.ok, app.io.isTerminated)
  } catch (error) {
    return await reported(error, session, branch.words)
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

/** Help for a command, a noun or everything. */
async function showHelp({ io, manifest }: App, branch: Branch, command: Command | undefined): Promise<ExitCode> {
  io.stdout.write(await helpText({ branch, command, manifest }, await layoutOf(io)))
  return EXIT.ok
}

interface Explained {
  readonly branch: Branch
  readonly command: Command | undefined
  readonly manifest: () => Manifest
}

async function helpText({ branch, command, manifest }: Explained, layout: Layout): Promise<string> {
  if (branch.words === '') return (await import('./help/root-help.ts')).rootHelp(manifest(), layout)
  const { branchHelp, commandHelp } = await import('./help/help.ts')
  return command === undefined ? branchHelp(branch, layout) : commandHelp(branch, command, layout)
}

async function layoutOf(io: Io): Promise<Layout> {
  const { styleOf } = await import('./output/style.ts')
  return { style: styleOf(io, io.stdout, false), columns: io.stdout.columns }
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
