import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { memberOf, rowsOf, withRows } from '../../output/members.ts'
import type { Session } from '../../session/session.ts'
import type { NameLookup, Naming } from './naming.ts'
import { operationOf } from '../../session/noun-lists.ts'
import { isText } from '../../output/screen.ts'

/** Which members of rows are references, and how a table shows them. */
export interface NamedMembers {
  readonly members: readonly string[]
  readonly shown: (names: Naming, reference: string) => string
  readonly lookup?: NameLookup
}

const TUPLE: NamedMembers = {
  members: ['subject', 'resource'],
  shown: (names, reference) => names.shown(reference),
}

/** The command of a list of tuples, which calls subjects and objects by name where a person reads it. `-o wide` has ids. */
export function namedListCommand(manifest: Manifest, id: string): Command {
  const operation = operationOf(manifest, id)
  const command = derivedCommand(operation, manifest)
  return {
    ...command,
    async run(session, given) {
      const { perform } = await import('../../derive/perform.ts')
      await perform(await namingForPeople(session, TUPLE), { operation }, given)
    },
  }
}

/** The session, with names in what is shown where a person reads it. */
export async function namingForPeople(session: Session, named: NamedMembers): Promise<Session> {
  const { output } = await session.settings()
  const isForPeople = session.io.stdout.isTty && output.value === 'table' && (await isText(session))
  return isForPeople ? naming(session, named) : session
}

function naming(session: Session, { members, shown, lookup }: NamedMembers): Session {
  return {
    ...session,
    style: session.style,
    talkStyle: session.talkStyle,
    canAsk: session.canAsk,
    async emit(value, view) {
      const rows = rowsOf(value, view.rows) ?? []
      const [{ namesOf }, { createResolver }] = await Promise.all([
        import('./naming.ts'),
        import('../../session/references.ts'),
      ])
      const references = rows.flatMap((row) => members.map((member) => String(memberOf(row, member))))
      const names = await namesOf(createResolver(session), references, lookup)
      const nameOf = (row: unknown, member: string) => [member, shown(names, String(memberOf(row, member)))] as const
      const named = rows.map((row) => ({
        ...(row as object),
        ...Object.fromEntries(members.map((member) => nameOf(row, member))),
      }))
      await session.emit(withRows(value, named, view.rows), view)
    },
  }
}
