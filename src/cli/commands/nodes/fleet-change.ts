import type { ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import { agreed, assertAnswerable, confirmChange, typed } from '../../derive/confirm.ts'
import type { Session } from '../../session/session.ts'

/** Refuses at once when a question about many nodes will be needed and nobody can answer it. */
export async function assertFleetAnswerable(session: Session, operationId: string, words: string): Promise<void> {
  const operation = session.operation(operationId)
  await assertAnswerable(session, { ...operation, cli: { ...operation.cli, command: words, confirm: 'yes' } })
}

/** Says where the change will happen, if that is not the usual place, then asks `question` unless `--yes` was given. */
export async function confirmFleetChange(
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
