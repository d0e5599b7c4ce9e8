import { isRow, type Row } from '../../output/members.ts'
import { canonical, digestOf, isSame } from '../canonical.ts'
import type { Member } from '../kind.ts'
import type { Change } from './plan.ts'

/** What is compared: the members of a file, and those of the object, if there is one. */
export interface Compared {
  readonly file: Row
  readonly live: Row | undefined
  /** Members whose entries are removed where the file does not name them. */
  readonly exact: ReadonlySet<string>
}

/** The changes that make an object what the file says. Members that the file does not have stay. */
export function changesOf(members: readonly Member[], compared: Compared): readonly Change[] {
  return members.flatMap((member) => {
    const wanted = compared.file[member.name]
    return wanted === undefined ? [] : changesOfMember(member, wanted, compared)
  })
}

function changesOfMember(member: Member, wanted: unknown, { live, exact }: Compared): readonly Change[] {
  const { name, rule } = member
  const present = live?.[name]
  if (rule === 'fixed' && live !== undefined) return []
  if (rule === 'value' || rule === 'fixed') return isEqual(present, wanted) ? [] : [changed(name, present, wanted)]
  const isExact = rule === 'whole' || exact.has(name)
  return changesOfEntries(member, { before: entriesOf(present), after: entriesOf(wanted), isExact })
}

interface Entries {
  readonly before: ReadonlyMap<string, unknown>
  readonly after: ReadonlyMap<string, unknown>
  readonly isExact: boolean
}

/** What goes comes before what comes, so that no step has more than before and after it. */
function changesOfEntries({ name, about }: Member, { before, after, isExact }: Entries): readonly Change[] {
  const subjects = new Set(about === undefined ? [] : [...after.values()].map(about))
  const isReplaced = (entry: unknown): boolean => about !== undefined && subjects.has(about(entry))
  const gone = new Map([...before].filter(([key, entry]) => !after.has(key) && (isExact || isReplaced(entry))))
  const come = [...after].filter(([key, entry]) => !isSame(before.get(key), entry))
  const added = come.map(([key, to]) => {
    const [old] = [...gone].find(([, from]) => about !== undefined && about(from) === about(to)) ?? []
    const from = old === undefined ? before.get(key) : gone.get(old)
    if (old !== undefined) gone.delete(old)
    return changed(`${name}.${key}`, from, to)
  })
  return [...[...gone].map(([key, from]) => changed(`${name}.${key}`, from, undefined)), ...added]
}

function changed(member: string, from: unknown, to: unknown): Change {
  return { member, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}

/** A list that is empty, `null` and a member that is absent are the same to the API. */
function isEqual(one: unknown, other: unknown): boolean {
  return isSame(emptied(one), emptied(other))
}

function emptied(value: unknown): unknown {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0) ? null : value
}

/** The entries of a map by key, of a list by slug or by their text. */
export function entriesOf(value: unknown): ReadonlyMap<string, unknown> {
  if (isRow(value)) return new Map(Object.entries(value))
  if (!Array.isArray(value)) return new Map()
  return new Map(value.map((entry) => [entryKey(entry), entry]))
}

function entryKey(entry: unknown): string {
  if (typeof entry === 'string') return entry
  return isRow(entry) && typeof entry['slug'] === 'string' ? entry['slug'] : canonical(entry)
}

/** Entries of a list or map that a change takes away. */
export function removedEntries({ from, to }: Change): number {
  if (to === undefined) return 1
  if (Array.isArray(from) && Array.isArray(to)) {
    const after = new Set(to.map(canonical))
    return from.filter((one) => !after.has(canonical(one))).length
  }
  return isRow(from) && isRow(to) ? Object.keys(from).filter((name) => !Object.hasOwn(to, name)).length : 0
}

/** Members that a file wants otherwise although they are set at creation. */
export function fixedMembers(members: readonly Member[], { file, live }: Compared): readonly string[] {
  if (live === undefined) return []
  const fixed = members.filter(
    ({ rule, name }) => rule === 'fixed' && file[name] !== undefined && live[name] !== undefined,
  )
  return fixed.filter(({ name }) => !isEqual(file[name], live[name])).map(({ name }) => name)
}

/** The entries that a change touches: its own, and the one that it replaces. */
function pathsOf({ member, from }: Change): readonly string[] {
  const [list = ''] = member.split('.')
  return isRow(from) && list !== member ? [member, `${list}.${entryKey(from)}`] : [member]
}

/** A digest of what changes leave as it is. */
export function othersDigest(live: Row | undefined, changes: readonly Change[]): string {
  if (live === undefined) return digestOf(null)
  const touched = new Set(changes.flatMap(pathsOf))
  const rest = Object.entries(live).flatMap(([name, value]) => {
    if (touched.has(name)) return []
    const kept = [...entriesOf(value)].filter(([key]) => !touched.has(`${name}.${key}`))
    const hasEntries = [...touched].some((member) => member.startsWith(`${name}.`))
    if (!hasEntries) return [[name, value] as const]
    return kept.length === 0 ? [] : [[name, kept.toSorted(([one], [other]) => (one < other ? -1 : 1))] as const]
  })
  return digestOf(Object.fromEntries(rest))
}
