import type { Caller, CallInput } from '../../../client/client.ts'
import { ProblemAnswer } from '../../../client/failures.ts'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { relative } from '../../output/cells.ts'
import { isRow, type Row } from '../../output/members.ts'
import type { Session } from '../../session/session.ts'
import { withCaller } from '../../session/step-up.ts'

/** The operation that reads what an acknowledgement changes. */
const READS: Readonly<Record<string, string>> = {
  AcknowledgeIntegrityViolation: 'GetIntegrityViolation',
  AcknowledgeDomainIntegrityViolation: 'GetDomainIntegrityViolation',
}

/**
 * The session, with acknowledgements that are sent for open violations alone. The server asks for the sign-in before it looks
 * at the violation, so that a person would sign in for one that is missing or not open.
 */
export function openOnly(session: Session): Session {
  const calling =
    (caller: Caller): Caller['call'] =>
    async (operation, input, options) => {
      const read = READS[operation.id]
      if (read !== undefined) await assertOpen(session, await violationOf(session, caller, { read, input }))
      return caller.call(operation, input, options)
    }
  return withCaller(session, (caller) => ({ ...caller, call: calling(caller) }))
}

interface Reading {
  readonly read: string
  readonly input: CallInput
}

/** The violation; undefined where the credential does not show it, and the person who signs in may see more. */
async function violationOf(session: Session, caller: Caller, { read, input }: Reading): Promise<Row | undefined> {
  const { body: _body, ...place } = input
  try {
    const { value } = await caller.call(session.operation(read), place)
    return isRow(value) ? value : undefined
  } catch (error) {
    if (await isLastWord(session, error)) throw error
    return undefined
  }
}

/** A token that covers no reads may still write, and a person may do what a service identity may not. */
async function isLastWord(session: Session, error: unknown): Promise<boolean> {
  if (!(error instanceof ProblemAnswer) || error.code !== 'permission_denied') return true
  if (error.document['reason'] === 'out_of_scope') return false
  return (await session.whoami())['kind'] === 'user'
}

type SentenceOf = (session: Session, violation: Row) => Promise<string> | string

/** Why a violation is not open. What a status of a later server means, that server says. */
const NOT_OPEN = new Map<unknown, SentenceOf>([
  ['acknowledged', acknowledgedSentence],
  ['resolved', resolvedSentence],
])

async function assertOpen(session: Session, violation: Row | undefined): Promise<void> {
  const sentence = NOT_OPEN.get(violation?.['status'])
  if (violation === undefined || sentence === undefined) return
  throw new CliError(await sentence(session, violation), {
    exitCode: EXIT.conflict,
    code: 'illegal_transition',
    hints: [`See it: ctl violations show ${String(violation['id'])}`],
  })
}

async function acknowledgedSentence(session: Session, violation: Row): Promise<string> {
  const { acknowledged_by_subject: subject, acknowledge_reason: reason } = violation
  const by = typeof subject === 'string' ? ` by ${await nameOfSubject(session, subject)}` : ''
  const why = typeof reason === 'string' ? `: ${reason}` : ''
  return `the violation was already acknowledged${by}${ago(session, violation['acknowledged_at'])}${why}`
}

function resolvedSentence(session: Session, violation: Row): string {
  return `the violation was resolved${ago(session, violation['resolved_at'])}, and is not open`
}

function ago({ io }: Session, at: unknown): string {
  return typeof at === 'string' ? ` ${relative(at, io.nowMs())}` : ''
}

async function nameOfSubject(session: Session, subject: string): Promise<string> {
  const [{ namesOf }, { createResolver }] = await Promise.all([
    import('../authz/naming.ts'),
    import('../../session/references.ts'),
  ])
  return (await namesOf(createResolver(session), [subject])).shown(subject)
}
