import type { Session } from '../session/session.ts'

/**
 * Whether text for people may stand in place of the answer: no flag says how rows or columns are to look. Where one does,
 * `session.emit` obeys or refuses it.
 */
export async function isScreen(session: Session): Promise<boolean> {
  const { columns, sort, 'no-headers': bare } = session.shared
  return (await isText(session)) && [columns, sort, bare].every((flag) => flag === undefined)
}

/** Whether people or programs that take text read the answer, rather than JSON. */
export async function isText(session: Session): Promise<boolean> {
  const { output } = await session.settings()
  return (output.value === 'table' || output.value === 'wide') && session.shared.jq === undefined
}
