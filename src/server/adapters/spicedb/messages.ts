import { v1 } from '@authzed/authzed-node'

export interface ObjectName {
  readonly type: string
  readonly id: string
}

/** A subject of a relationship. */
export interface SubjectName extends ObjectName {
  /** Empty for the object itself. */
  readonly relation: string
}

/** A relationship in the spelling of the schema. */
export interface Relationship {
  readonly resource: ObjectName
  readonly relation: string
  readonly subject: SubjectName
  /** Empty for none. */
  readonly caveat: string
}

/** JSON values by the names of caveat parameters. */
export type CaveatContext = Readonly<Record<string, unknown>>

/** The token of a write: the answer is at least as fresh. Undefined: as fresh as possible. */
export type Freshness = string | undefined

export const objectOf = ({ type, id }: ObjectName): v1.ObjectReference =>
  v1.ObjectReference.create({ objectType: type, objectId: id })

export const subjectOf = ({ type, id, relation }: SubjectName): v1.SubjectReference =>
  v1.SubjectReference.create({ object: { objectType: type, objectId: id }, optionalRelation: relation })

export function consistencyOf(freshness: Freshness): v1.Consistency {
  const requirement =
    freshness === undefined
      ? ({ oneofKind: 'fullyConsistent', fullyConsistent: true } as const)
      : ({ oneofKind: 'atLeastAsFresh', atLeastAsFresh: { token: freshness } } as const)
  return v1.Consistency.create({ requirement })
}

export function contextOf(context: CaveatContext | undefined): { context: v1.PbStruct } | undefined {
  if (context === undefined) return undefined
  // The values are JSON. The library's type for JSON has writable members; it does not write to them.
  return { context: v1.PbStruct.fromJson(context as Parameters<typeof v1.PbStruct.fromJson>[0]) }
}

export function updateOf(op: 'touch' | 'delete', relationship: Relationship): v1.RelationshipUpdate {
  const { resource, relation, subject, caveat } = relationship
  const { TOUCH, DELETE } = v1.RelationshipUpdate_Operation
  return v1.RelationshipUpdate.create({
    operation: op === 'touch' ? TOUCH : DELETE,
    relationship: {
      resource: objectOf(resource),
      relation,
      subject: subjectOf(subject),
      ...(caveat !== '' && { optionalCaveat: { caveatName: caveat } }),
    },
  })
}

export function plainRelationship(relationship: v1.Relationship): Relationship {
  const { resource, relation, subject, optionalCaveat } = relationship
  return {
    resource: plainObject(resource),
    relation,
    subject: { ...plainObject(subject?.object), relation: subject?.optionalRelation ?? '' },
    caveat: optionalCaveat?.caveatName ?? '',
  }
}

export const plainObject = (object: v1.ObjectReference | undefined): ObjectName => ({
  type: object?.objectType ?? '',
  id: object?.objectId ?? '',
})
