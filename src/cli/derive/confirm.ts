import type { ManifestOperation } from '../../shared/contract/manifest-format.ts'
import { CliError, usageError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/exit-code.ts'
import { cardLines } from '../output/table.ts'
import { showOf } from '../session/noun-lists.ts'
import { isRow, memberOf, nameOf, type Row } from '../output/members.ts'
import type { Session } from '../session/session.ts'
import type { Settings } from '../session/settings.ts'
import { singular } from '../argv/tree.ts'
import { nounOf } from './members.ts'
import type { Target } from './plan.ts'

/** Refuses at once, before anything is looked up, when a question will be needed and nobody can answer it. */
export async function assertAnswerable(session: Session, { cli }: ManifestOperation): Promise<void> {
  if (session.canAsk) return
  const settings = await session.settings()
  const context = settings.context.value ?? ''
  if (isGuarded(session, settings))
    throw usageError(
      `context ${context} is protected, and there is nobody to ask`,
      `Add --yes and --context ${context}`,
    )
  if (cli?.confirm !== undefined && session.shared.yes !== true)
    throw usageError(`"ctl ${cli.command}" asks for confirmation, and there is nobody to ask`, 'Add --yes')
}

/** A protected context asks before every change, unless the command line itself names it and agrees. */
function isGuarded(session: Session, { isProtected, isContextNamed }: Settings): boolean {
  return isProtected && !(session.shared.yes === true && isContextNamed)
}

/** Says where the change will happen if that is not the usual place, shows what it will hit, and asks. */
export async function confirmChange(
  session: Session,
  operation: ManifestOperation,
  targets: readonly Target[],
): Promise<void> {
  const settings = await session.settings()
  const context = settings.context.value ?? '(none)'
  if (settings.isElsewhere) session.note(`Context ${context}: ${settings.url.value}`)
  if (isGuarded(session, settings))
    await typed(session, `Context ${context} is protected. Type its name to go on:`, context)
  await warnOfOwn(session, operation, targets)
  const confirm = operation.cli?.confirm
  if (confirm === undefined || session.shared.yes === true) return
  const names: string[] = []
  for (const target of targets) names.push(await show(session, operation, target))
  if (confirm === 'yes') return agreed(session, `${operation.summary}: ${names.join(', ')}?`)
  for (const name of names) await typed(session, `${operation.summary}. Type ${name} to go on:`, name)
}

/** Says before a change that ends one's own credential that it does. */
async function warnOfOwn(session: Session, operation: ManifestOperation, targets: readonly Target[]): Promise<void> {
  if (nounOf(operation) !== 'service-identities') return
  const ids = targets.flatMap(({ input }) => (endsCredentials(operation, input) ? [input['principal_id']] : []))
  if (ids.length === 0) return
  const subject = await session.whoami().then(
    (me) => String(me['subject']),
    () => undefined,
  )
  if (ids.some((id) => subject === `serviceaccount:${String(id)}`))
    session.warn('this is the identity that you are signed in as: the server will refuse your credential from then on')
}

function endsCredentials({ method }: ManifestOperation, input: Target['input']): boolean {
  return method === 'DELETE' || memberOf(input, 'body.disabled') === true
}

/** Asks for a yes. Throws when it is anything else. */
export async function agreed(session: Session, question: string): Promise<void> {
  const answer = await (await session.io.prompter()).confirm(question)
  if (answer !== true) throw refused()
}

/** Asks for a text to be typed. Throws when it is another. */
export async function typed(session: Session, question: string, expected: string): Promise<void> {
  const answer = await (await session.io.prompter()).input(question)
  if (answer?.trim() !== expected) throw refused()
}

function refused(): CliError {
  return new CliError('nothing was done', { exitCode: EXIT.interrupted, code: 'not_confirmed' })
}

/** Prints the object on stderr and answers its name. */
async function show(session: Session, operation: ManifestOperation, target: Target): Promise<string> {
  const noun = nounOf(operation)
  const shower = shownBeside(session, operation) ?? showOf(session.manifest(), noun)
  const row = (await lookUp(session, shower, target)) ?? target.object?.row
  if (isRow(row)) printCard(session, row, columnsOf(shower) ?? columnsOf(operation))
  return nameOf(row) ?? target.object?.label ?? singular(noun)
}

/** Of a noun with parts of several kinds, the operation that shows one of the same kind: `bridge ingress show`. */
function shownBeside(session: Session, { cli }: ManifestOperation): ManifestOperation | undefined {
  const words = cli?.command.split(' ').slice(0, -1) ?? []
  return words.length > 1 ? showOf(session.manifest(), words.join(' ')) : undefined
}

function columnsOf(operation: ManifestOperation | undefined): readonly string[] | undefined {
  return operation?.cli?.columns
}

function printCard(session: Session, row: Row, columns: readonly string[] | undefined): void {
  const lines = cardLines(row, {
    columns: columns ?? Object.keys(row),
    headers: true,
    nowMs: session.io.nowMs(),
    style: session.talkStyle,
    terminal: session.io.stderr.columns,
    isWide: true,
  })
  session.io.stderr.write(`${lines.join('\n')}\n`)
}

async function lookUp(session: Session, operation: ManifestOperation | undefined, { input }: Target): Promise<unknown> {
  if (!operation?.params.every(({ name }) => input[name] !== undefined)) return undefined
  return (await (await session.caller()).call(operation, input)).value
}
