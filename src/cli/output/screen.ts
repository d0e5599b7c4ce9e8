import type { Session } from '../session.ts'

/**
 * Whether text for people may stand in place of the answer: no flag says how rows or columns are to look. Where one does,
 * `session.emit` obeys or refuses it.
 */
export async function isScreen(session: Session): Promise<boolean> {
  const { jq, columns, sort, 'no-headers': bare } = session.shared
  const { output } = await session.settings()
  const isTable = output.value === 'table' || output.value === 'wide'
  return isTable && [jq, columns, sort, bare].every((flag) => flag === undefined)
}
