import type { Manifest } from '../../shared/contract/manifest-format.ts'
import type { Command } from '../command.ts'
import { derivedCommand } from '../derive/derive.ts'
import { memberOf, rowsOf, withRows } from '../output/members.ts'
import type { Session } from '../session.ts'
import { isText } from './question.ts'
import { asking } from './triple.ts'

/** The command of a list of tuples, which calls subjects and objects by name where a person reads it. `-o wide` has ids. */
export function namedListCommand(manifest: Manifest, id: string): Command {
  const operation = asking(manifest, id)
  const command = derivedCommand(operation, manifest)
  return {
    ...command,
    async run(session, given) {
      const { perform } = await import('../derive/perform.ts')
      await perform((await isForPeople(session)) ? naming(session) : session, { operation }, given)
    },
  }
}

async function isForPeople(session: Session): Promise<boolean> {
  const { output } = await session.settings()
  return session.io.stdout.isTty && output.value === 'table' && (await isText(session))
}

/** The session, with names in what is shown. */
function naming(session: Session): Session {
  return {
    ...session,
    style: session.style,
    talkStyle: session.talkStyle,
    canAsk: session.canAsk,
    async emit(value, view) {
      const rows = rowsOf(value, view.rows) ?? []
      const [{ namesOf }, { createResolver }] = await Promise.all([import('./naming.ts'), import('../references.ts')])
      const references = rows.flatMap((row) => [memberOf(row, 'subject'), memberOf(row, 'resource')]).map(String)
      const names = await namesOf(createResolver(session), references)
      const named = rows.map((row) => ({
        ...(row as object),
        subject: names.shown(String(memberOf(row, 'subject'))),
        resource: names.shown(String(memberOf(row, 'resource'))),
      }))
      await session.emit(withRows(value, named, view.rows), view)
    },
  }
}
