import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Row } from '../../output/members.ts'
import type { Member, MemberRule, Writing } from '../kind.ts'
import type { Change } from '../plan/plan.ts'
import { bodyMember, type ValueSchema } from '../schema/value-schema.ts'

/** Members that the bodies of an operation have, replaced as a whole. */
export function valuesOf(manifest: Manifest, operation: string, names: readonly string[]): readonly Member[] {
  return names.map((name) => ({ name, rule: 'value', schema: bodyMember(manifest, operation, name) }))
}

/** The same member, which a file must have. */
export function required(member: Member): Member {
  return { ...member, isRequired: true }
}

/** A member by another rule. */
export function ruled(member: Member, rule: MemberRule): Member {
  return { ...member, rule }
}

/** Labels by key. A bare key means the nearest Definition, as in selectors. */
export const LABELS: Member = {
  name: 'labels',
  rule: 'additive',
  schema: {
    type: 'object',
    additionalProperties: { type: ['string', 'integer', 'boolean'] },
    description: 'Labels by key; others of the object stay',
  },
}

export const TEXTS: ValueSchema = { type: 'array', items: { type: 'string' } }

/** Members of a row in the given order; those that are undefined are left out. */
export function picked(row: Row, names: readonly string[]): Row {
  return Object.fromEntries(names.flatMap((name) => (row[name] === undefined ? [] : [[name, row[name]] as const])))
}

/** The members that changes replace as a whole, with their new values. */
export function replaced(changes: readonly Change[], names: readonly string[]): Row {
  return Object.fromEntries(
    changes.filter(({ member }) => names.includes(member)).map(({ member, to }) => [member, to]),
  )
}

/** Changes of the entries of a list or map: the name of each, and what it was and becomes. */
export function entriesOf({ changes }: Pick<Writing, 'changes'>, member: string): readonly Entry[] {
  const prefix = `${member}.`
  return changes
    .filter((change) => change.member.startsWith(prefix))
    .map(({ member: path, from, to }) => ({ name: path.slice(prefix.length), from, to }))
}

export interface Entry {
  readonly name: string
  readonly from?: unknown
  readonly to?: unknown
}

/** A text member of a row; empty where there is none. */
export function text(row: Row, name: string): string {
  const value = row[name]
  return typeof value === 'string' ? value : ''
}
