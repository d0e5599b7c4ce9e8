import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { memberOf, rowsOf, withRows } from '../../output/members.ts'
import type { Session } from '../../session/session.ts'
import type { Naming } from './naming.ts'
import { operationOf } from '../../session/noun-lists.ts'
import { isText } from '../../output/screen.ts'

/** Which members of rows are references, and how a table shows them. */
export interface NamedMembers {
  readonly members: readonly string[]
  readonly shown: (names: Naming, reference: string) => string
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
export function namingForPeople(session: Session, named: NamedMembers): Promise<Session> {
  return changedForPeople(session, (rows) => withNames(session, named, rows))
}

/** Rows as a table shows them to a person. */
type ChangeRows = (rows: readonly unknown[]) => readonly unknown[] | Promise<readonly unknown[]>

/** The session, with other rows in what is shown where a person reads it. */
export async function changedForPeople(session: Session, change: ChangeRows): Promise<Session> {
  const { output } = await session.settings()
  const isForPeople = session.io.stdout.isTty && output.value === 'table' && (await isText(session))
  return isForPeople ? changing(session, change) : session
}

function changing(session: Session, change: ChangeRows): Session {
  return {
    ...session,
    style: session.style,
    talkStyle: session.talkStyle,
    canAsk: session.canAsk,
    async emit(value, view) {
      const rows = await change(rowsOf(value, view.rows) ?? [])
      await session.emit(withRows(value, rows, view.rows), view)
    },
  }
}

async function withNames(
  session: Session,
  { members, shown }: NamedMembers,
  rows: readonly unknown[],
): Promise<readonly unknown[]> {
  const [{ namesOf }, { createResolver }] = await Promise.all([
    import('./naming.ts'),
    import('../../session/references.ts'),
  ])
  const references = rows.flatMap((row) => members.map((member) => String(memberOf(row, member))))
  const names = await namesOf(createResolver(session), references)
  const nameOf = (row: unknown, member: string) => [member, shown(names, String(memberOf(row, member)))] as const
  return rows.map((row) => ({
    ...(row as object),
    ...Object.fromEntries(members.map((member) => nameOf(row, member))),
  }))
}
