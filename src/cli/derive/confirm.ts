import type { ManifestOperation } from '../../shared/contract/manifest-format.ts'
import { CliError, usageError } from '../cli-error.ts'
import { EXIT } from '../exit-code.ts'
import { cardLines } from '../output/table.ts'
import { isRow, nameOf } from '../output/members.ts'
import type { Session } from '../session.ts'
import { singular } from '../tree.ts'
import type { Target } from './input.ts'

/** Refuses at once, before anything is looked up, when a question will be needed and nobody can answer it. */
export async function assertAnswerable(session: Session, operation: ManifestOperation): Promise<void> {
  if (operation.access === 'read') return
  const { isProtected, isContextNamed, context } = await session.settings()
  const { shared, canAsk } = session
  if (canAsk) return
  if (isProtected && !(shared.yes === true && isContextNamed))
    throw usageError(
      `context ${context.value ?? ''} is protected, and there is nobody to ask`,
      `Add --yes and --context ${context.value ?? ''}`,
    )
  if (operation.cli?.confirm !== undefined && shared.yes !== true)
    throw usageError(`"${operation.cli.command}" asks for confirmation, and there is nobody to ask`, 'Add --yes')
}

/** Says where the change will happen if that is not the usual place, shows what it will hit, and asks. */
export async function confirmChange(
  session: Session,
  operation: ManifestOperation,
  targets: readonly Target[],
): Promise<void> {
  if (operation.access === 'read') return
  const { context, url, isElsewhere, isProtected, isContextNamed } = await session.settings()
  if (isElsewhere) session.note(`Context ${context.value ?? '(none)'}: ${url.value}`)
  const isAgreed = session.shared.yes === true
  if (isProtected && !(isAgreed && isContextNamed))
    await typed(session, `Context ${context.value ?? ''} is protected. Type its name to go on:`, context.value ?? '')
  const confirm = operation.cli?.confirm
  if (confirm === undefined || isAgreed) return
  const names: string[] = []
  for (const target of targets) names.push(await show(session, operation, target))
  if (confirm === 'yes') return agreed(session, `${operation.summary}: ${names.join(', ')}?`)
  for (const name of names) await typed(session, `${operation.summary}. Type ${name} to go on:`, name)
}

async function agreed(session: Session, question: string): Promise<void> {
  const answer = await (await session.io.prompter()).confirm(question)
  if (answer !== true) throw refused()
}

async function typed(session: Session, question: string, expected: string): Promise<void> {
  const answer = await (await session.io.prompter()).input(question)
  if (answer?.trim() !== expected) throw refused()
}

function refused(): CliError {
  return new CliError('nothing was done', { exitCode: EXIT.interrupted, code: 'not_confirmed' })
}

/** Prints the object on stderr and answers its name. */
async function show(session: Session, operation: ManifestOperation, target: Target): Promise<string> {
  const noun = operation.cli?.command.split(' ')[0] ?? ''
  const row = (await lookUp(session, noun, target)) ?? target.object?.row
  if (isRow(row)) {
    const columns = operation.cli?.columns ?? showOperation(session, noun)?.cli?.columns ?? Object.keys(row)
    const lines = cardLines(row, {
      columns,
      headers: true,
      nowMs: session.io.nowMs(),
      style: session.talkStyle,
      terminal: session.io.stderr.columns,
      isWide: true,
    })
    session.io.stderr.write(`${lines.join('\n')}\n`)
  }
  return nameOf(row) ?? target.object?.label ?? singular(noun)
}

function showOperation(session: Session, noun: string): ManifestOperation | undefined {
  return Object.values(session.manifest().operations).find(({ cli }) => cli?.command === `${noun} show`)
}

async function lookUp(session: Session, noun: string, { input }: Target): Promise<unknown> {
  const operation = showOperation(session, noun)
  if (!operation?.params.every(({ name }) => input[name] !== undefined)) return undefined
  return (await (await session.caller()).call(operation, input)).value
}
