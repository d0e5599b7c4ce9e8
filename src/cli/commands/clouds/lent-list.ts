import type { Page } from '../../../client/pages.ts'
import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import type { Command, Given } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { targetsOf } from '../../derive/input.ts'
import { noteList, readList } from '../../derive/lists.ts'
import { perform, rowMembers } from '../../derive/perform.ts'
import { memberOf, type Row } from '../../output/members.ts'
import { isText } from '../../output/screen.ts'
import { operationOf } from '../../session/noun-lists.ts'
import type { Session } from '../../session/session.ts'
import type { Names } from './names.ts'

/** A list of what is lent to a Project. */
export interface LentList {
  readonly operationId: string
  /** The member with the id of what is lent. */
  readonly member: string
  /** The column of a table that names it. */
  readonly column: string
  names(session: Session, ids: ReadonlySet<string>): Promise<Names>
}

/** The derived list of what is lent to a Project; its table names that, where the caller may see it. */
export function lentList(manifest: Manifest, lent: LentList): Command {
  const operation = operationOf(manifest, lent.operationId)
  return {
    ...derivedCommand(operation, manifest),
    examples: [`ctl ${operation.cli?.command ?? ''} --project web`],
    async run(session, given) {
      if (session.shared.curl === true || !(await isText(session))) return perform(session, { operation }, given)
      return showNamed(session, { operation, lent }, given)
    },
  }
}

interface Listed {
  readonly operation: ManifestOperation
  readonly lent: LentList
}

async function showNamed(session: Session, { operation, lent }: Listed, given: Given): Promise<void> {
  const [target] = await targetsOf(session, { operation }, given)
  const page = (await readList(session, operation, target?.input ?? {})) as Page<Row> // Lists have rows.
  const idIn = (row: Row): string => String(memberOf(row, lent.member))
  const names = await lent.names(session, new Set(page.items.map(idIn)))
  const items = page.items.map((row) => ({ ...row, [lent.column]: names.get(idIn(row)) ?? idIn(row) }))
  await session.emit(
    { ...page, items },
    {
      columns: [lent.column, 'state', 'materialised', 'created_at', 'id'],
      wide: [lent.member, 'approval_id', 'revoked_by', 'revoked_reason', 'updated_at'],
      members: [lent.column, ...(rowMembers(operation) ?? [])],
    },
  )
  noteList(session, page)
}
