import type { Askable, Expression, Model, TypeModel } from '../model.ts'
import type { Relationship } from './parse-relationship.ts'
import { nameOf, type ObjectRelation, type SubjectReference } from './references.ts'
import {
  exclusion,
  intersection,
  underCondition,
  union,
  EMPTY,
  type Found,
  type FoundWildcard,
  type SubjectSet,
} from './subject-set.ts'

/** Subjects by kind: `user`, `group#member`. */
export type Subjects = ReadonlyMap<string, SubjectSet>

/** The subjects cannot be listed. */
export class ExpansionError extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'ExpansionError'
  }
}

const NO_SUBJECTS: Subjects = new Map()

/** Maximum length of a chain of relations. */
const DEPTH_MAX = 500

/** Maximum of subjects examined for one file: large nested groups multiply. */
const SUBJECTS_MAX = 5_000_000

/**
 * Lists the subjects of relations and permissions, with the relations through which they were found, as the
 * `validation` section of SpiceDB's files compares them. Groups are listed beside their members. Every subject with a
 * caveat is conditional, whatever values are given. The caller must omit expired relationships.
 */
export function createExpander(
  model: Model,
  relationships: readonly Relationship[],
): (asked: ObjectRelation) => Subjects {
  const byRelation = grouped(relationships, ({ resource }) => nameOf(resource))
  const known = new Map<string, Subjects>()
  const open = new Set<string>()
  let budget = SUBJECTS_MAX

  function expand(type: TypeModel, id: string, member: Askable): Subjects {
    const name = `${type.name}:${id}#${member.name}`
    const before = known.get(name)
    if (before !== undefined) return before
    if (open.has(name)) throw new ExpansionError(`${name} depends on itself`)
    if (open.size === DEPTH_MAX) throw new ExpansionError(`it is nested deeper than ${DEPTH_MAX} relations`)
    open.add(name)
    const found = member.kind === 'relation' ? members(name) : evaluate(id, member.expression, name)
    open.delete(name)
    known.set(name, found)
    return found
  }

  function members(name: string): Subjects {
    const tuples = byRelation.get(name) ?? []
    const nested = tuples.flatMap(({ subject, caveat }) => {
      if (subject.relation === '') return []
      return [under(caveat, reached(subject))]
    })
    return combined([directly(tuples, name), ...nested], union)
  }

  function evaluate(id: string, expression: Expression, name: string): Subjects {
    const { parts, reference } = expression
    const each = (): Subjects[] => parts.map((part) => evaluate(id, part, name))
    switch (expression.op) {
      case 'reference':
        return reference === undefined ? NO_SUBJECTS : expand(reference.type, id, reference)
      case 'arrow':
        return combined(targets(id, expression), union)
      case 'all':
        return intersected(targets(id, expression))
      case 'self':
        return directly([{ subject: { type: name.slice(0, name.indexOf(':')), id, relation: '' }, caveat: '' }], name)
      case 'union':
        return combined(each(), union)
      case 'intersection':
        return intersected(each())
      case 'exclusion':
        return excluded(each())
      default:
        return NO_SUBJECTS
    }
  }

  function targets(id: string, { tupleset, targets: asked }: Expression): Subjects[] {
    if (tupleset === undefined) return []
    const tuples = byRelation.get(`${tupleset.type.name}:${id}#${tupleset.name}`) ?? []
    return tuples.map(({ subject, caveat }) => {
      const type = model.type(subject.type)
      const target = type && asked[type.index]
      return type === undefined || target === undefined ? NO_SUBJECTS : under(caveat, expand(type, subject.id, target))
    })
  }

  function reached({ type: name, id, relation }: ObjectRelation): Subjects {
    const type = model.type(name)
    const member = type?.askable.get(relation)
    return type === undefined || member === undefined ? NO_SUBJECTS : expand(type, id, member)
  }

  function combined(all: readonly Subjects[], combine: (sets: readonly SubjectSet[]) => SubjectSet): Subjects {
    if (all.length === 1) return all[0] ?? NO_SUBJECTS
    for (const subjects of all) for (const { concrete } of subjects.values()) spend(concrete.size + 1)
    const kinds = new Set(all.flatMap((subjects) => [...subjects.keys()]))
    return new Map([...kinds].map((kind) => [kind, combine(all.flatMap((subjects) => subjects.get(kind) ?? []))]))
  }

  function intersected(all: readonly Subjects[]): Subjects {
    const kinds = [...(all[0]?.keys() ?? [])].filter((kind) => all.every((subjects) => subjects.has(kind)))
    const ofKind = (kind: string): SubjectSet => all.map((one) => one.get(kind) ?? EMPTY).reduce(intersection)
    for (const subjects of all) for (const { concrete } of subjects.values()) spend(concrete.size + 1)
    return new Map(kinds.map((kind) => [kind, ofKind(kind)]))
  }

  function excluded([from = NO_SUBJECTS, without = NO_SUBJECTS]: readonly Subjects[]): Subjects {
    for (const { concrete } of from.values()) spend(concrete.size + 1)
    return new Map([...from].map(([kind, set]) => [kind, exclusion(set, without.get(kind) ?? EMPTY)]))
  }

  function spend(subjects: number): void {
    budget -= subjects
    if (budget < 0) throw new ExpansionError(`it has more than ${SUBJECTS_MAX} subjects on the way`)
  }

  return (asked) => {
    open.clear()
    return reached(asked)
  }
}

function under(caveat: string, subjects: Subjects): Subjects {
  return caveat === '' ? subjects : new Map([...subjects].map(([kind, set]) => [kind, underCondition(set)]))
}

/** The direct subjects of tuples: one object, a whole group, or everyone of a type. */
function directly(tuples: readonly Pick<Relationship, 'subject' | 'caveat'>[], name: string): Subjects {
  const through = new Set([name])
  const byKind = grouped(tuples, ({ subject }) => kindOf(subject))
  return new Map(
    [...byKind].map(([kind, of]) => {
      const found = of.map(({ subject, caveat }): [string, Found] => [
        subject.id,
        { isConditional: caveat !== '', through },
      ])
      const all = found.find(([id]) => id === '*')?.[1]
      const wildcard: FoundWildcard | undefined = all && { ...all, exceptions: new Map() }
      return [kind, { concrete: new Map(found.filter(([id]) => id !== '*')), wildcard }]
    }),
  )
}

const kindOf = ({ type, relation }: SubjectReference): string => (relation === '' ? type : `${type}#${relation}`)

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return groups
}
