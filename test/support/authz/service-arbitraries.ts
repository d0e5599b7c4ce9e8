import * as fc from 'fast-check'
import { SERVICE_MODEL } from '../../../src/shared/authz/service-model.ts'
import type { RelationModel, SubjectRule } from '../../../src/shared/authz/model.ts'

/** Two objects of each type: enough for grants that reach the wrong one to show. */
const PER_TYPE = 2

const nameOf = (type: string, at: number): string => (type === 'platform' ? 'platform:main' : `${type}:${type}-${at}`)

function subjectText({ type, kind, relation, caveat }: SubjectRule, at: number): string {
  const bearer = kind === 'wildcard' ? `${type.name}:*` : nameOf(type.name, at)
  return `${bearer}${relation === undefined ? '' : `#${relation.name}`}${caveat === undefined ? '' : `[${caveat.name}]`}`
}

/** A tuple of the relation. Groups contain only later groups, so that there are no cycles. */
function tupleOf(relation: RelationModel): fc.Arbitrary<string> {
  const { name } = relation.type
  const place = fc.nat(PER_TYPE - 1)
  return fc.tuple(place, place, fc.constantFrom(...relation.subjects)).map(([at, subjectAt, rule]) => {
    const isNested = rule.type === relation.type
    const resource = nameOf(name, isNested ? 0 : at)
    return `${resource}#${relation.name}@${subjectText(rule, isNested ? 1 : subjectAt)}`
  })
}

const relations = SERVICE_MODEL.types.flatMap((type) => type.relations)
const structural = relations.filter((relation) => relation.structural)
const roles = relations.filter((relation) => !relation.structural)

/** A few dozen tuples of the service's schema, half of them parent edges. */
export const serviceTuples: fc.Arbitrary<string[]> = fc
  .tuple(
    fc.uniqueArray(fc.oneof(...structural.map(tupleOf)), { minLength: 10, maxLength: 40 }),
    fc.uniqueArray(fc.oneof(...roles.map(tupleOf)), { minLength: 10, maxLength: 40 }),
  )
  .map(([edges, held]) => [...edges, ...held])

const SUBJECTS = ['user:user-0', 'user:user-1', 'serviceaccount:serviceaccount-0', 'user:stranger']

/** Every relation and permission of every object, for four subjects. */
export const serviceQuestions: readonly string[] = SERVICE_MODEL.types.flatMap((type) =>
  [0, 1]
    .slice(0, type.name === 'platform' ? 1 : PER_TYPE)
    .flatMap((at) =>
      [...type.askable.keys()].flatMap((name) =>
        SUBJECTS.map((subject) => `${nameOf(type.name, at)}#${name}@${subject}`),
      ),
    ),
)
