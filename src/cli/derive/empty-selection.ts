import { SELECTOR } from '../argv/selector.ts'
import { CliError } from '../errors/cli-error.ts'
import { faultsIn } from '../errors/selector-errors.ts'
import { ProblemAnswer } from '../../client/failures.ts'
import { memberOf } from '../output/members.ts'
import { underline } from '../output/underline.ts'
import { createResolver } from '../session/references.ts'
import type { Session } from '../session/session.ts'

/** Where a selector was used: the id of the Domain; that in which the command works when absent. */
interface Place {
  readonly domainId?: unknown
}

/**
 * Warns of what is wrong with a selector that matched nothing, such as a key that nobody defined: lists accept it. Asks
 * the server once. Says nothing where the selector is right, or where the server does not answer that question.
 */
export async function warnOfSelector(session: Session, text: string, { domainId }: Place = {}): Promise<void> {
  const errors = faultsIn(await errorsOf(session, text, domainId))
  if (errors.length === 0) return
  session.warn(
    [
      `nothing matches --${SELECTOR}, which has ${errors.length === 1 ? 'an error' : `${errors.length} errors`}:`,
      ...underline(text, errors).map((line) => `  ${line}`),
    ].join('\n'),
  )
}

async function errorsOf(session: Session, selector: string, domainId: unknown): Promise<unknown> {
  try {
    const id = domainId ?? (await createResolver(session).fallback('domains', {}))?.id
    if (id === undefined) return []
    const caller = await session.caller()
    const { value } = await caller.call(session.operation('PreviewDomainSelector'), { id, body: { selector } })
    return memberOf(value, 'errors')
  } catch (error) {
    // The list was answered, and this is only an explanation: an old server or a token without the scope is no failure.
    if (error instanceof ProblemAnswer || error instanceof CliError) return []
    throw error
  }
}
