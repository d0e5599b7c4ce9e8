import { CliError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/exit-code.ts'
import { listCommand } from './noun-lists.ts'
import { handleOf, HANDLES, idOf, memberOf, nameOf } from '../output/members.ts'
import { singular } from '../argv/tree.ts'
import { labelOf } from './row-labels.ts'

/** An object that a person meant. */
export interface Resolved {
  readonly id: string
  /** What the person may call it: its name where that is known, else what was typed. */
  readonly label: string
  /** The row of the list that it was found in. */
  readonly row?: unknown
  /** What was typed is the name that decorates it, and no handle. */
  readonly byDisplayName?: boolean
  /** Another row, whose display name is exactly what was typed. */
  readonly alsoNamed?: unknown
}

/** Shorter pieces of ids would soon be ambiguous. */
const PIECE_MIN = 6

/** Chooses the row that a text names. Throws not found, or a usage error that lists the candidates. */
export function pick(noun: string, text: string, rows: readonly unknown[]): Resolved {
  const handled = matching(text, rows, handlesOf)
  if (handled.length > 0) {
    const alsoNamed = rows.find((row) => !handled.includes(row) && decorationsOf(row).includes(text))
    return { ...only(noun, text, handled), ...(alsoNamed !== undefined && { alsoNamed }) }
  }
  // A name that decorates one object and an id of another are two answers.
  const decorated = matching(text, rows, decorationsOf)
  const found = [...new Set([...decorated, ...rows.filter((row) => isPiece(text, idOf(row)))])]
  if (found.length === 0) throw notFound(noun, text, { rows })
  const resolved = only(noun, text, found)
  return decorated.length === 0 ? resolved : { ...resolved, byDisplayName: true }
}

/** Chooses the row that has the handle; undefined when none has. Throws a usage error that lists the candidates. */
export function pickByHandle(noun: string, handle: string, rows: readonly unknown[]): Resolved | undefined {
  const found = matching(handle, rows, handlesOf)
  return found.length === 0 ? undefined : only(noun, handle, found)
}

/** The only row as what was meant. */
export function only(noun: string, text: string, rows: readonly unknown[]): Resolved {
  const [row, ...others] = rows
  const id = idOf(row) ?? slugOfPart(row)
  if (others.length > 0) throw ambiguous(noun, text, rows)
  if (id === undefined) throw notFound(noun, text, { rows })
  return { id, label: handleOf(row) ?? id, row }
}

/** A part of a bridge has no id of its own: its slug is what the API takes. */
function slugOfPart(row: unknown): string | undefined {
  const slug = memberOf(row, 'resource_id') === undefined ? undefined : memberOf(row, 'slug')
  return typeof slug === 'string' ? slug : undefined
}

type NamesOf = (row: unknown) => readonly string[]

/** The rows so named, else those so named in other letters. */
function matching(text: string, rows: readonly unknown[], namesOf: NamesOf): readonly unknown[] {
  const exact = rows.filter((row) => namesOf(row).includes(text))
  if (exact.length > 0) return exact
  const lower = text.toLowerCase()
  return rows.filter((row) => namesOf(row).some((name) => name.toLowerCase() === lower))
}

const handlesOf: NamesOf = (row) => {
  const handle = handleOf(row)
  return [...textsOf(row, [...HANDLES, 'subject', 'prefix']), ...(handle === undefined ? [] : [handle])]
}

const decorationsOf: NamesOf = (row) => textsOf(row, ['display_name'])

function textsOf(row: unknown, members: readonly string[]): readonly string[] {
  const values = members.map((member) => memberOf(row, member))
  return values.flatMap((value) => (typeof value === 'string' && value !== '' ? [value] : []))
}

/** Whether a text is the beginning or the end of an id, in at least six digits. */
export function isPiece(text: string, id: unknown): boolean {
  const piece = text.replace(/^[…~]/, '').replaceAll('-', '').toLowerCase()
  if (typeof id !== 'string' || piece.length < PIECE_MIN || !/^[0-9a-f]+$/.test(piece)) return false
  const digits = id.replaceAll('-', '')
  return digits.startsWith(piece) || digits.endsWith(piece)
}

export const NOT_FOUND = 'reference_not_found'

function ambiguous(noun: string, text: string, found: readonly unknown[]): CliError {
  const shown = found.slice(0, 10).map((row) => `  ${String(idOf(row))}  ${candidateName(noun, row)}`.trimEnd())
  const more = found.length > shown.length ? [`  … and ${found.length - shown.length} more`] : []
  const names = new Set(found.map((row) => candidateName(noun, row)))
  const areDistinct = names.size === found.length && found.every((row) => handleOf(row) !== undefined)
  return new CliError(
    `"${text}" fits ${found.length} ${noun}; give ${areDistinct ? 'one of these names or ' : ''}a whole id`,
    {
      exitCode: EXIT.usage,
      code: 'ambiguous_reference',
      hints: [...shown, ...more],
    },
  )
}

/** A row in a list of candidates; users and service identities may have the same handle. */
function candidateName(noun: string, row: unknown): string {
  const prefix = PREFIX_OF_KIND[String(memberOf(row, 'kind'))] ?? ''
  const name = labelOf(noun, row)
  return name === undefined ? '' : `${prefix}${name}`
}

const PREFIX_OF_KIND: Readonly<Record<string, string>> = { user: 'user:', 'service-identity': 'service:' }

interface Searched {
  readonly rows: readonly unknown[]
  /** The Domain that was searched, where it is worth saying. */
  readonly place?: string | undefined
  /** What the command of the list needs. */
  readonly of?: readonly string[]
}

export function notFound(noun: string, text: string, { rows, place, of = [] }: Searched): CliError {
  const where = place === undefined ? '' : ` in domain ${place}`
  return new CliError(`there is no ${singular(noun)} "${text}"${where}, or you may not see it`, {
    exitCode: EXIT.notFound,
    code: NOT_FOUND,
    mistyped: {
      word: text,
      known: rows.flatMap((row) => nameOf(row) ?? []),
      otherwise: `See which there are: ctl ${[listCommand(noun), ...of].join(' ')}`,
    },
  })
}
