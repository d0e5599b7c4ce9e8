import type { Askable } from '../model.ts'

/**
 * Which members of a model, by their number, are *plain*: relations that take nothing but objects and sets of plain
 * relations. 1 for those, 0 for all others, permissions among them.
 */
export function plainRelations(members: readonly Askable[]): Uint8Array {
  const isPlain = Uint8Array.from(members, ({ kind }) => Number(kind === 'relation'))
  const takesOther = (member: Askable): boolean =>
    member.kind === 'relation' && member.subjects.some(({ relation }) => relation && isPlain[relation.id] === 0)
  for (let isChanged = true; isChanged;) {
    const lost = members.filter((member) => isPlain[member.id] === 1 && takesOther(member))
    for (const { id } of lost) isPlain[id] = 0
    isChanged = lost.length > 0
  }
  return isPlain
}
