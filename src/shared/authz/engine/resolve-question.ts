import type { Model, TypeModel } from '../model.ts'
import { isObjectId, storedId } from '../reference.ts'
import type { Question } from './question.ts'
import { NONE } from './edge-chains.ts'
import { NO_OBJECT } from './object-table.ts'
import type { TupleIndex } from './tuple-index.ts'

/** A question as callers ask it. */
export interface Asking {
  /** `<type>:<id>`, one subject. */
  readonly subject: string
  readonly relation: string
  /** `<type>:<id>`. */
  readonly resource: string
}

/** Why a question cannot be asked. */
export interface QuestionFault {
  readonly part: 'subject' | 'relation' | 'resource'
  readonly reason: 'malformed' | 'unknown'
}

/** Puts a question in the terms of the index. Ids that the index knows are well-formed, so that only others are looked at. */
export function resolveQuestion(model: Model, index: TupleIndex, asking: Asking): Question | QuestionFault {
  const resourceType = typeOf(model, asking.resource)
  if (resourceType === undefined) return faultOf('resource', asking.resource)
  const asked = resourceType.askable.get(asking.relation)
  if (asked === undefined) return { part: 'relation', reason: asking.relation === '' ? 'malformed' : 'unknown' }
  const subjectType = typeOf(model, asking.subject)
  if (subjectType === undefined) return faultOf('subject', asking.subject)
  const resource = findObject(index, resourceType, asking.resource)
  const subject = findObject(index, subjectType, asking.subject)
  if (!isOneObject(index, resource, asking.resource)) return { part: 'resource', reason: 'malformed' }
  if (!isOneObject(index, subject, asking.subject)) return { part: 'subject', reason: 'malformed' }
  if (resource !== NONE) return { subjectType, subject, asked, resource }
  const isItself = subject === NONE && storedReference(asking.subject) === storedReference(asking.resource)
  return { subjectType, subject: isItself ? NO_OBJECT : subject, asked, resource: NO_OBJECT }
}

/** As `resolveQuestion`, for a subject that may be a set: `<type>:<id>` or `<type>:<id>#<relation>`. */
export function resolveSetQuestion(model: Model, index: TupleIndex, asking: Asking): Question | QuestionFault {
  const hash = asking.subject.indexOf('#')
  if (hash < 0) return resolveQuestion(model, index, asking)
  const question = resolveQuestion(model, index, { ...asking, subject: asking.subject.slice(0, hash) })
  if ('reason' in question) return question
  const userset = question.subjectType.askable.get(asking.subject.slice(hash + 1))
  return userset === undefined ? { part: 'subject', reason: 'unknown' } : { ...question, userset }
}

/** The object that the reference names; NONE where no tuple does, or where the reference is malformed. */
export function objectNamed(model: Model, index: TupleIndex, reference: string): number {
  const type = typeOf(model, reference)
  return type === undefined ? NONE : findObject(index, type, reference)
}

const COLON = 58

const idAt = (reference: string): number => reference.indexOf(':') + 1

/** The reference as tuples have it: UUIDs in lower case. */
export const storedReference = (reference: string): string =>
  reference.slice(0, idAt(reference)) + storedId(reference.slice(idAt(reference)))

/** Compares in place of cutting the name out: there are few types, and few names of one length. */
function typeOf({ types }: Model, reference: string): TypeModel | undefined {
  for (const type of types) {
    const { name } = type
    if (reference.charCodeAt(name.length) === COLON && reference.startsWith(name)) return type
  }
  return undefined
}

function findObject({ objects }: TupleIndex, type: TypeModel, reference: string): number {
  const found = objects.find(type.index, reference, idAt(reference))
  if (found !== NONE) return found
  const stored = storedReference(reference)
  return stored === reference ? NONE : objects.find(type.index, stored, idAt(stored))
}

/** A reference without a known type: malformed unless it has the form of one. */
function faultOf(part: 'subject' | 'resource', reference: string): QuestionFault {
  const isFormed = idAt(reference) > 1 && isObjectId(reference.slice(idAt(reference)))
  return { part, reason: isFormed ? 'unknown' : 'malformed' }
}

function isOneObject(index: TupleIndex, object: number, reference: string): boolean {
  return object === NONE ? isObjectId(reference.slice(idAt(reference))) : !index.isWildcard(object)
}
