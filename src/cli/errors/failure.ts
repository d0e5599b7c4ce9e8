import { ProblemAnswer, TransportFailure } from '../../client/failures.ts'
import { asTyped } from './npx-command-hints.ts'
import { connectionHints } from './connection-hints.ts'
import { CliError, type Mistyped } from './cli-error.ts'
import { EXIT, exitCodeAfter, exitCodeOf, type ExitCode } from './exit-code.ts'
import { faultOf, REPORT } from './fault.ts'
import { nearest } from '../../shared/nearest.ts'
import { refusalHints, refusalMessage } from './refusals.ts'
import type { Session } from '../session/session.ts'
import { harmless, type Style } from '../output/style.ts'
import { transportSentence } from './transport-sentence.ts'

/** What is said of a failure, to a person or to a program. */
interface Report {
  readonly message: string
  readonly hints: readonly string[]
  readonly facts: Readonly<Record<string, string | number | undefined>>
  readonly exitCode: ExitCode
}

/** Says on stderr what failed, why, and what to do next; as one JSON object with `-o json`. Answers the exit code. */
export async function reportFailure(error: unknown, session: Session, words: string): Promise<ExitCode> {
  const known = await reportOf(error, session, words)
  const report = {
    ...known,
    hints: known.hints.map((hint) => asTyped(hint, session.io)),
    exitCode: exitCodeAfter(known.exitCode, session.io.isTerminated),
  }
  session.io.stderr.write(isForPrograms(session) ? asJson(report) : asText(report, session.talkStyle))
  return report.exitCode
}

/** Says in one line on stderr what failed for one object of several. Answers the exit code. */
export async function reportLine(
  error: unknown,
  session: Session,
  { words, label }: { readonly words: string; readonly label: string },
): Promise<ExitCode> {
  const known = await reportOf(error, session, words)
  const message = known.message.includes(label) ? known.message : `${label}: ${known.message}`
  const report = { ...known, message }
  session.io.stderr.write(
    isForPrograms(session) ? asJson(report) : `${session.talkStyle.bad('error:')} ${harmless(message)}\n`,
  )
  return known.exitCode
}

function isForPrograms({ shared, io }: Session): boolean {
  const format = shared.output ?? io.env['CTL_OUTPUT']
  return format === 'json' || format === 'jsonl'
}

async function reportOf(error: unknown, session: Session, words: string): Promise<Report> {
  if (error instanceof CliError) {
    const hints = [...suggestion(error.mistyped), ...error.hints]
    return { message: error.message, hints, facts: { code: error.code }, exitCode: error.exitCode }
  }
  if (error instanceof ProblemAnswer) {
    const facts = { code: error.code, status: error.status, correlation_id: error.correlationId }
    const message = await refusalMessage(error, session, words)
    const hints = await refusalHints(error, session, words)
    return { message, hints, facts, exitCode: exitCodeOf(error.status) }
  }
  if (error instanceof TransportFailure) return transportReport(error, session, words)
  return bugReport(error, session)
}

function suggestion(mistyped: Mistyped | undefined): readonly string[] {
  if (mistyped === undefined) return []
  const near = nearest(mistyped.word, mistyped.known)
  if (near === undefined) return [mistyped.otherwise]
  return [mistyped.suggest?.(near) ?? `Did you mean ${near}?`]
}

const ADDRESS = 'See where the address comes from: ctl config view --show-origin. Name another with --url or --context.'

const FAULT_HINTS: Readonly<Record<TransportFailure['fault'], readonly string[]>> = {
  unreachable: [ADDRESS, 'To start a server on this machine: ctl serve'],
  broken: [],
  timeout: ['Allow more time with --timeout.', ADDRESS],
  untrusted: [
    'Trust its certificate authority with --ca-file FILE, or by the digest that the server printed: ctl login --ca-sha256 HEX.',
  ],
  aborted: [],
  unreadable: [ADDRESS],
  unknown_status: ['The server has done what was asked. Install the ctl that fits it.'],
  too_large: ['Ask for less: --limit and the filters of the command.'],
}

/** For calls that can have changed something. A sign-in that did not begin changes nothing that could be checked. */
const AFTER_WRITE: Partial<typeof FAULT_HINTS> = {
  broken: ['Whether the server acted on it is not known: check before you try again.'],
  timeout: ['Whether the server acted on it is not known: check before you try again.'],
}

async function transportReport(error: TransportFailure, session: Session, words: string): Promise<Report> {
  if (error.fault === 'aborted')
    return { message: 'interrupted', hints: [], facts: { code: 'interrupted' }, exitCode: EXIT.interrupted }
  const { url } = await session.settings()
  return {
    message: transportSentence(url.value, error),
    hints: [
      ...(session.hasUnansweredWrite && words !== 'login' ? (AFTER_WRITE[error.fault] ?? []) : []),
      ...connectionHints(error),
      ...FAULT_HINTS[error.fault],
    ],
    facts: { code: error.fault },
    exitCode: EXIT.unavailable,
  }
}

/** What nobody foresaw: one sentence to a person, and the stack to anyone who asks for it. */
function bugReport(error: unknown, { shared }: Session): Report {
  const { sentence, stack } = faultOf(error)
  const isShown = shared.debug === true || shared.trace === true
  return {
    message: sentence,
    hints: isShown ? [...stack, REPORT] : ['For the place in the code, add --debug.', REPORT],
    facts: { code: 'fault' },
    exitCode: EXIT.failed,
  }
}

function asText({ message, hints, facts }: Report, style: Style): string {
  const { status } = facts
  const known = Object.entries(facts).filter(([, value]) => value !== undefined)
  const line =
    status === undefined ? [] : [style.dim(known.map(([name, value]) => `${name}=${String(value)}`).join(' '))]
  return `${[`${style.bad('error:')} ${harmless(message)}`, ...hints.map(harmless), ...line].join('\n')}\n`
}

function asJson({ message, hints, facts, exitCode }: Report): string {
  return `${JSON.stringify({ error: message, hints, ...facts, exit_code: exitCode })}\n`
}
