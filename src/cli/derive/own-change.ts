import type { ManifestOperation } from '../../shared/contract/manifest-format.ts'
import { agreed, assertAnswerable, confirmChange, typed } from './confirm.ts'
import type { Session } from '../session/session.ts'

/** Refuses at once when a command with a question of its own will need an answer and nobody can give it. */
export async function assertOwnAnswerable(session: Session, operationId: string, words: string): Promise<void> {
  const operation = session.operation(operationId)
  await assertAnswerable(session, { ...operation, cli: { ...operation.cli, command: words, confirm: 'yes' } })
}

/** Says where the change will happen, if that is not the usual place, then asks `question` unless `--yes` was given. */
export async function confirmOwnChange(
  session: Session,
  operationId: string,
  { question, typing }: { readonly question: string; readonly typing?: string | undefined },
): Promise<void> {
  await confirmChange(session, withoutQuestion(session.operation(operationId)), [])
  if (session.shared.yes === true) return
  if (typing === undefined) await agreed(session, `${question}?`)
  else await typed(session, `${question}. Type ${typing} to go on:`, typing)
}

function withoutQuestion({ cli, ...operation }: ManifestOperation): ManifestOperation {
  const { confirm: _question, ...rest } = cli ?? { command: '' }
  return { ...operation, cli: rest }
}
