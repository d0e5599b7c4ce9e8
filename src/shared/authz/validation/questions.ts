import { NONE } from '../engine/edge-chains.ts'
import { Checker, UndecidableError, type ConditionVerdict, type Question } from '../engine/checker.ts'
import { NO_OBJECT } from '../engine/object-table.ts'
import { TupleIndex } from '../engine/tuple-index.ts'
import { UNKNOWN, YES } from '../engine/verdict.ts'
import type { Outcome } from '../explanation.ts'
import type { SchemaNode } from '../language/ast.ts'
import { compileSchema } from '../language/compile.ts'
import type { Model } from '../model.ts'
import { columnsOf } from './load-relationships.ts'
import type { Relationship } from './parse-relationship.ts'
import { nameOf, type ObjectRelation, type SubjectReference } from './references.ts'
import { withStandIns, type StandIns } from './stand-ins.ts'

/** One object asking, in the terms of an index. */
export interface Asked {
  readonly model: Model
  readonly index: TupleIndex
  readonly question: Question
}

/** Asks over the relationships of one file. */
export interface Questions {
  /** Undefined where the schema lacks a name, so that nobody holds it. @throws UndecidableError */
  ask(resource: ObjectRelation, subject: SubjectReference, holds: ConditionVerdict): Outcome
  /** The question as the index has it; undefined where it cannot be put so. */
  put(resource: ObjectRelation, subject: SubjectReference): Asked | undefined
}

export { UndecidableError }

interface World {
  readonly model: Model
  readonly index: TupleIndex
  readonly checker: Checker
}

interface Posed {
  readonly world: World
  readonly question: Question
}

const PLAIN = {
  caveat: '',
  context: undefined,
  expiresAtMs: undefined,
  offsets: { relation: 0, subject: 0, caveat: 0 },
}

/** `schema` is that of the model. */
export function createQuestions(model: Model, schema: SchemaNode, relationships: readonly Relationship[]): Questions {
  const plain = worldOf(model, relationships)

  let stands: { readonly world: World; readonly with: StandIns } | undefined
  const known = new Map<string, SubjectReference>()

  /** The stand-in for the members of a set, made when it first asks; undefined where the schema has no such set. */
  function standIn(set: SubjectReference): SubjectReference | undefined {
    const before = known.get(nameOf(set))
    if (before !== undefined) return before
    stands ??= standInWorld(schema, relationships)
    const relation = stands.with.relationFor(set.type, set.relation)
    if (relation === undefined) return undefined
    const subject = { type: stands.with.type, id: String(known.size), relation: '' }
    const resource = { ...set, relation }
    stands.world.index.touch(columnsOf({ ...PLAIN, resource, subject }), 0)
    known.set(nameOf(set), subject)
    return subject
  }

  function posed(resource: ObjectRelation, subject: SubjectReference): Posed | undefined {
    const asker = subject.relation === '' ? subject : standIn(subject)
    const world = subject.relation === '' ? plain : stands?.world
    const question = asker && world && questionOf(world, resource, asker)
    return question && world && { world, question }
  }

  return {
    ask(resource, subject, holds) {
      const asked = posed(resource, subject)
      if (asked === undefined) return 'denied'
      const verdict = asked.world.checker.check(asked.question, holds, false)
      if (verdict === YES) return 'granted'
      return verdict === UNKNOWN ? 'conditional' : 'denied'
    },
    put(resource, subject) {
      const question = subject.relation === '' ? questionOf(plain, resource, subject) : undefined
      return question && { ...plain, question }
    },
  }
}

function standInWorld(schema: SchemaNode, relationships: readonly Relationship[]): { world: World; with: StandIns } {
  const stands = withStandIns(schema)
  return { world: worldOf(compileSchema(stands.schema), relationships), with: stands }
}

function worldOf(model: Model, relationships: readonly Relationship[]): World {
  const index = new TupleIndex(model)
  for (const relationship of relationships) index.touch(columnsOf(relationship), 0)
  return { model, index, checker: new Checker(index) }
}

function questionOf({ model, index }: World, resource: ObjectRelation, asker: SubjectReference): Question | undefined {
  const resourceType = model.type(resource.type)
  const subjectType = model.type(asker.type)
  const asked = resourceType?.askable.get(resource.relation)
  if (resourceType === undefined || subjectType === undefined || asked === undefined) return undefined
  const object = index.objects.find(resourceType.index, resource.id, 0)
  const subject = index.objects.find(subjectType.index, asker.id, 0)
  if (object !== NONE) return { subjectType, subject, asked, resource: object }
  const isItself = subject === NONE && resourceType === subjectType && resource.id === asker.id
  return { subjectType, subject: isItself ? NO_OBJECT : subject, asked, resource: NO_OBJECT }
}
