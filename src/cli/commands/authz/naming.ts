import { isNonZeroUuid, parseReference } from '../../../shared/ids.ts'
import { quoted } from '../../output/curl.ts'
import { handleOf, memberOf, nameOf } from '../../output/members.ts'
import type { Resolver } from '../../session/references.ts'

/** References as a person calls them. */
export interface Naming {
  /** `project:web`, `service:build`, `group:ops#member`; the reference as it is where no name is known. */
  shown(reference: string): string
  /** A word for a shell that names the same object to this command line; by its id where its name is not sure to do. */
  typed(reference: string): string
  /** As `typed`, without the type: for arguments that take one kind of object. */
  typedObject(reference: string): string
}

/** What names are looked up with. */
interface NameLookup {
  /** Names that are known otherwise. */
  readonly known?: ReadonlyMap<string, string>
}

/** Rows of each list that are read; an object behind them is called by its id. */
const ROWS_MAX = 2_000

/** Names for references, from the lists that the caller may read, and those known otherwise. What cannot be read has no names; that is no failure. */
export async function namesOf(
  resolver: Resolver,
  references: Iterable<string>,
  { known = new Map() }: NameLookup = {},
): Promise<Naming> {
  const names = new Map<string, string>()
  const decorations = new Map(known)
  for (const [noun, ids] of idsByNoun(resolver, references)) {
    for (const [id, row] of await readRows(resolver, noun, ids)) {
      const handle = handleOf(row)
      if (handle !== undefined) names.set(id, handle)
      else decorations.set(id, nameOf(row) ?? id)
    }
  }
  return naming(names, decorations)
}

/** Names that are known already, by id; those that no list tells are only shown. */
export function naming(names: ReadonlyMap<string, string>, shownOnly: ReadonlyMap<string, string> = new Map()): Naming {
  const text = (reference: string, name: (id: string) => string): string => {
    if (reference === 'platform:main') return 'platform'
    const parsed = parseReference(reference)
    if (parsed === undefined) return reference
    const type = parsed.type === 'serviceaccount' ? 'service' : parsed.type
    const [id = '', relation] = parsed.id.split('#')
    return `${type}:${name(id)}${relation === undefined ? '' : `#${relation}`}`
  }
  const sure = (id: string): string => {
    const name = names.get(id) ?? id
    const isUnique = [...names.values()].filter((other) => other === name).length <= 1
    return isUnique ? name : id
  }
  return {
    shown: (reference) => text(reference, (id) => names.get(id) ?? shownOnly.get(id) ?? id),
    typed: (reference) => quoted(text(reference, sure).replace(/^(group:[^#]+)#member$/, '$1')),
    typedObject: (reference) => quoted(sure(parseReference(reference)?.id.split('#')[0] ?? reference)),
  }
}

function idsByNoun(resolver: Resolver, references: Iterable<string>): ReadonlyMap<string, Set<string>> {
  const wanted = new Map<string, Set<string>>()
  for (const reference of references) {
    const parsed = parseReference(reference)
    const noun = resolver.nounOf(parsed?.type ?? '')
    const [id = ''] = parsed?.id.split('#') ?? []
    if (noun === undefined || !isNonZeroUuid(id)) continue
    wanted.set(noun, (wanted.get(noun) ?? new Set()).add(id))
  }
  return wanted
}

async function readRows(
  resolver: Resolver,
  noun: string,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, unknown>> {
  const found = new Map<string, unknown>()
  let rows = 0
  const see = (row: unknown): boolean => {
    const id = memberOf(row, 'id')
    if (typeof id === 'string' && ids.has(id)) found.set(id, row)
    rows += 1
    return found.size < ids.size && rows < ROWS_MAX
  }
  await resolver.visit(noun, {}, see).catch(() => undefined) // Names are decoration: ids say the same.
  return found
}
