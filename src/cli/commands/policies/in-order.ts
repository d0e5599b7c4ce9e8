import { ProblemAnswer } from '../../../client/failures.ts'
import { CliError } from '../../errors/cli-error.ts'
import { harmless } from '../../output/style.ts'
import type { Session } from '../../session/session.ts'
import type { PolicyFile } from './documents.ts'

/** Policies to write, one call for each. */
interface Writes {
  readonly files: readonly PolicyFile[]
  /** The slug as it was typed, which comes before that of the file. */
  readonly slug: string | undefined
  readonly write: (file: PolicyFile) => Promise<void>
}

/**
 * Writes policies in their order and stops at the first that fails. Warns of what was done and what was not, and throws the failure
 * with the file and the slug of the policy.
 */
export async function writeInOrder(session: Session, { files, slug, write }: Writes): Promise<void> {
  const slugs = files.map(({ name, members: { slug: own } }) => slug ?? (typeof own === 'string' ? own : name))
  for (const [index, file] of files.entries()) {
    try {
      await write(file)
    } catch (error) {
      if (files.length > 1) warnOfRest(session, error, { done: slugs.slice(0, index), rest: slugs.slice(index) })
      throw isRead(file) ? placed(error, placeOf(file, slugs[index]), index) : error
    }
  }
}

/** What flags alone say has no file to name. */
function isRead({ members }: PolicyFile): boolean {
  return Object.keys(members).length > 0
}

function placeOf({ name }: PolicyFile, slug = name): string {
  return slug === name || name.includes(`(${slug})`) ? name : `${name} (${slug})`
}

interface Progress {
  readonly done: readonly string[]
  readonly rest: readonly string[]
}

function warnOfRest(session: Session, error: unknown, { done, rest }: Progress): void {
  const made = done.length === 0 ? 'Nothing was done.' : `Done: ${done.join(', ')}.`
  session.warn(harmless(`${made} Not done: ${rest.join(', ')}.`))
  if (error instanceof ProblemAnswer && error.code === 'policy_test_failed')
    session.warn('tests run after each policy of a file: a test that needs a later policy belongs into the last one')
}

const UNCHANGED = / Nothing was changed\.$/

/** The failure with the place of the policy in front. Behind other policies it is not true that nothing was changed. */
function placed(error: unknown, place: string, before: number): unknown {
  const sentence = (text: string): string => `${place}: ${before === 0 ? text : text.replace(UNCHANGED, '')}`
  if (error instanceof ProblemAnswer) {
    const { code, status, title, correlationId: correlation_id } = error
    const document = { ...error.document, code, status, title, correlation_id, detail: sentence(error.detail) }
    return new ProblemAnswer(document, error.retryAfterSeconds, error.operationId)
  }
  if (!(error instanceof CliError) || error.message.startsWith(place)) return error
  const { exitCode, code, hints, mistyped } = error
  return new CliError(sentence(error.message), { exitCode, code, hints, mistyped, cause: error })
}
