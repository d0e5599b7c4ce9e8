import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { idOf } from '../../output/members.ts'
import { createResolver } from '../../session/references.ts'
import { labelOf } from '../../session/row-labels.ts'
import type { Session } from '../../session/session.ts'

/** Asks a person for one of the open violations. Resolves with its id. @throws CliError where none is open or chosen */
export async function chooseOpen(session: Session): Promise<string> {
  const resolver = createResolver(session)
  const domain = await resolver.chosen('domains', {})
  const scope = domain === undefined ? {} : { domains: domain.id }
  const rows = await resolver.filtered('violations', scope, { status: 'open' })
  if (rows.length === 0) throw noneOpen()
  const choices = rows.map((row) => {
    const id = idOf(row) ?? ''
    return { value: id, name: `${labelOf('violations', row, session.io.nowMs()) ?? ''} (${id})` }
  })
  const chosen = await (await session.io.prompter()).choose('Violation', choices)
  if (chosen === undefined) throw new CliError('nothing was done', { exitCode: EXIT.interrupted, code: 'interrupted' })
  return chosen
}

function noneOpen(): CliError {
  return new CliError('there is no open violation that you may see', {
    exitCode: EXIT.notFound,
    code: 'reference_not_found',
    hints: ['See all of them: ctl violations list'],
  })
}
