import type { Mismatch } from '../find-rule.ts'
import type { Model, RelationModel, SubjectRule } from '../model.ts'
import type { Relationship } from './parse-relationship.ts'
import { TextFault } from './text-fault.ts'

/** Describes what the schema expects instead of a part of a relationship. */
export function describeMismatch(model: Model, relationship: Relationship, { part }: Mismatch): TextFault {
  const { resource, subject, offsets } = relationship
  const type = model.type(resource.type)
  if (part === 'resource' || type === undefined)
    return new TextFault(0, expectedOneOf('a type', typeNames(model), resource.type))
  const relation = type.writable.get(resource.relation)
  if (relation === undefined) return new TextFault(offsets.relation, describeRelation(type, resource.relation))
  if (part === 'subject' && model.type(subject.type) === undefined) {
    return new TextFault(offsets.subject, expectedOneOf('a type', typeNames(model), subject.type))
  }
  const offset = part === 'subject' ? offsets.subject : offsets.caveat
  const taken = relation.subjects.map(describeRule)
  return new TextFault(
    offset,
    expectedOneOf(`what "${type.name}#${relation.name}" takes`, taken, describeSubject(relationship)),
  )
}

function describeRelation(
  type: { name: string; relations: readonly RelationModel[]; askable: ReadonlyMap<string, unknown> },
  found: string,
): string {
  const names = type.relations.map(({ name }) => name)
  const isPermission = type.askable.has(found)
  return expectedOneOf(`a relation of "${type.name}"`, names, isPermission ? `the permission ${found}` : found)
}

const typeNames = ({ types }: Model): readonly string[] => types.map(({ name }) => name)

const LISTED_MAX = 12

function expectedOneOf(what: string, names: readonly string[], found: string): string {
  const listed = names.slice(0, LISTED_MAX).join(', ')
  const more = names.length > LISTED_MAX ? ', …' : ''
  return `expected ${what} (${names.length === 0 ? 'there is none' : `${listed}${more}`}), found ${found}`
}

/** The rule in the notation of the schema. */
function describeRule({ type, kind, relation, caveat, expires }: SubjectRule): string {
  const suffix = kind === 'wildcard' ? ':*' : kind === 'userset' ? `#${relation?.name ?? ''}` : ''
  return `${type.name}${suffix}${traits(caveat?.name ?? '', expires)}`
}

function describeSubject({ subject, caveat, expiresAtMs }: Relationship): string {
  const suffix = subject.id === '*' ? ':*' : subject.relation === '' ? '' : `#${subject.relation}`
  return `${subject.type}${suffix}${traits(caveat, expiresAtMs !== undefined)}`
}

function traits(caveat: string, expires: boolean): string {
  const all = [...(caveat === '' ? [] : [caveat]), ...(expires ? ['expiration'] : [])]
  return all.length === 0 ? '' : ` with ${all.join(' and ')}`
}
