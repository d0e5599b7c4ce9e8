import type { ManifestOperation, Manifest } from '../../../shared/contract/manifest-format.ts'
import { ProblemAnswer } from '../../../client/failures.ts'
import { ROLES } from '../../../shared/roles.ts'
import { CliError, usageError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import type { Target } from '../../derive/plan.ts'
import { EXIT, exitCodeOf, type ExitCode } from '../../errors/exit-code.ts'
import type { Resolved } from '../../session/pick.ts'
import type { Session } from '../../session/session.ts'
import type { Edit } from './impact-answer.ts'
import { DRY_RUN } from './preview.ts'

/** A change that can be tried first. */
export interface Previewable {
  readonly operation: ManifestOperation
  readonly examples: readonly string[]
  /** What the one reference is called where the command knows more of it than its id. */
  readonly object?: Resolved
  /** The edits that a call comes to. */
  readonly editsOf: (target: Target, session: Session) => readonly Edit[] | Promise<readonly Edit[]>
  /** The role that is given and the type of the object, for saying which there are where it is none. */
  readonly roleOf?: (given: Given) => { readonly type: string; readonly role: string }
  /** A tuple that is there already is no failure. */
  readonly isRepeatable?: boolean
  /** Changes what was typed before it is read. */
  readonly retyped?: (given: Given, session: Session) => Given | Promise<Given>
}

/** The command of an operation, with `--dry-run`. */
export function previewableCommand(manifest: Manifest, previewable: Previewable): Command {
  const { operation, examples } = previewable
  const command = derivedCommand(operation, manifest)
  return {
    ...command,
    flags: { ...command.flags, 'dry-run': DRY_RUN },
    uses: [...new Set([...(command.uses ?? []), 'output' as const])],
    examples: [...(command.examples ?? []), ...examples],
    run: (session, typed) => runPreviewable(session, typed, previewable),
  }
}

/** Makes the change, or tries it with `--dry-run`. */
export async function runPreviewable(
  session: Session,
  typed: Given,
  previewable: Previewable,
): Promise<ExitCode | void> {
  try {
    return await performOrPreview(session, typed, previewable)
  } catch (error) {
    if (!isAlreadyThere(error, previewable)) throw unknownRole(error, previewable.roleOf?.(typed)) ?? error
    session.note('Nothing to do: it is granted already.')
    return EXIT.ok
  }
}

/** A role that is held already is what a creation wants, so that a script may repeat it (cli: idempotent verbs). */
function isAlreadyThere(error: unknown, { isRepeatable }: Previewable): boolean {
  return isRepeatable === true && error instanceof ProblemAnswer && error.code === 'tuple_already_exists'
}

async function performOrPreview(
  session: Session,
  typed: Given,
  { operation, object, editsOf, retyped = (given) => given }: Previewable,
): Promise<ExitCode | void> {
  const given = await retyped(typed, session)
  if (given.flags['dry-run'] !== true) assertPrintable(session, operation)
  if (given.flags['dry-run'] !== true)
    return (await import('../../derive/perform.ts')).perform(session, { operation, ...(object && { object }) }, given)
  const [{ targetsOf }, { preview }, { createResolver }] = await Promise.all([
    import('../../derive/input.ts'),
    import('./preview.ts'),
    import('../../session/references.ts'),
  ])
  const targets = await targetsOf(session, { operation }, given)
  const edits: Edit[] = []
  for (const target of targets) edits.push(...(await editsOf(target, session)))
  return preview(session, edits, createResolver(session))
}

/** Throws where flags say how an answer is to look, and there is none: only the preview prints something. */
function assertPrintable({ shared }: Session, { responses }: ManifestOperation): void {
  if (responses.some(({ media }) => media !== null)) return
  const given = (['columns', 'sort', 'jq', 'no-headers'] as const).find((name) => shared[name] !== undefined)
  if (given !== undefined) throw usageError(`--${given} goes with --dry-run, since nothing is printed without it`)
}

/** Names the roles that an object of the type has, where the server knows none of that name. */
function unknownRole(error: unknown, given: { type: string; role: string } | undefined): CliError | undefined {
  if (!(error instanceof ProblemAnswer) || error.document['part'] !== 'relation' || given === undefined)
    return undefined
  const { type, role } = given
  const known = ROLES[type] ?? []
  if (known.length === 0 || known.includes(role)) return undefined
  return new CliError(`there is no role "${role}" on a ${type}`, {
    exitCode: exitCodeOf(error.status),
    code: error.code,
    mistyped: { word: role, known, otherwise: `Roles on a ${type}: ${known.join(', ')}.` },
    cause: error,
  })
}
