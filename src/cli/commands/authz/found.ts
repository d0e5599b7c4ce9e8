import { parseReference } from '../../../shared/ids.ts'
import { rowsOf } from '../../output/members.ts'
import type { Resolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { namesOf } from './naming.ts'
import { isText } from '../../output/screen.ts'

/** What a lookup found, for a table: names first, ids last. */
export interface FoundRow {
  readonly name: string
  readonly type: string
  readonly id: string
}

/** Shows references: to people by name, to programs as the API has them. */
export async function showFound(
  session: Session,
  value: unknown,
  { references, resolver, title }: Showing,
): Promise<void> {
  const { output } = await session.settings()
  if (output.value === 'name') return session.io.stdout.write(references.map((one) => `${one}\n`).join(''))
  if (!(await isText(session))) return session.emit(value, { columns: [] })
  const rows = await namedRows(references, resolver)
  await session.emit(
    rows.map(({ name, ...row }) => ({ [title]: name, ...row })),
    { columns: [title, 'id'], wide: ['type'] },
  )
}

interface Showing {
  readonly references: readonly string[]
  readonly resolver: Resolver
  /** Title of the first column. */
  readonly title: string
}

/** References with their names, in their order. */
export async function namedRows(references: readonly string[], resolver: Resolver): Promise<readonly FoundRow[]> {
  const names = await namesOf(resolver, references)
  return references.map((reference) => {
    const { type, id } = parseReference(reference) ?? { type: '', id: reference }
    return { name: id === '*' ? everyone(type) : names.shown(reference), type, id: id.split('#')[0] ?? id }
  })
}

function everyone(type: string): string {
  return type === 'user' ? 'every user' : `every ${type === 'serviceaccount' ? 'service' : type}`
}

/** The references of a lookup's answer. */
export function stringsIn(value: unknown): readonly string[] {
  return (rowsOf(value) ?? []).filter((one) => typeof one === 'string')
}
