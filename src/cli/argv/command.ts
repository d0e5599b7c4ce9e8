import type { Manifest } from '../../shared/contract/manifest-format.ts'
import type { ExitCode } from '../errors/exit-code.ts'
import type { ArgumentSpec, FlagSpecs, FlagValues, SharedGroup } from './flags.ts'
import type { Session } from '../session/session.ts'

/** What a command was called with, apart from the shared flags, which the session reads. */
export interface Given<F extends FlagSpecs = FlagSpecs> {
  readonly args: readonly string[]
  readonly flags: FlagValues<F>
}

/** One command: what it takes and what it does. */
export interface Command<F extends FlagSpecs = FlagSpecs> {
  /** Paragraphs under the summary in help. */
  readonly description?: string
  readonly args?: readonly ArgumentSpec[]
  readonly flags?: F
  /** Shared flags that it understands beside those that all do. */
  readonly uses?: readonly SharedGroup[]
  /** It asks before it changes anything, so that `--yes` matters. */
  readonly asks?: boolean
  /** With `--watch` it ends by itself, with the first look that it answers with 0. */
  readonly endsWatch?: true
  /** Whole command lines. */
  readonly examples?: readonly string[]
  /** Everything after the command's words goes to it unparsed, `--help` too. */
  readonly raw?: true
  /** Resolves to the exit code, 0 when nothing is said. */
  run(session: Session, given: Given<F>): Promise<ExitCode | undefined | void>
}

/** Ties the flags that `run` reads to those that the record declares. */
export function defineCommand<const F extends FlagSpecs>(command: Command<F>): Command {
  return command
}

/** A place in the command tree; the command behind it is loaded when it is called. */
export interface CommandRow {
  /** Noun and verb, e.g. `nodes list`. */
  readonly words: string
  readonly summary: string
  readonly hidden?: true
  load(manifest: Manifest): Promise<Command>
}
