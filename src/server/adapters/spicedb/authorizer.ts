import { resolveQuestion } from '../../../shared/authz/engine/resolve-question.ts'
import { TupleIndex } from '../../../shared/authz/engine/tuple-index.ts'
import { grantingNames } from '../../../shared/authz/granting-names.ts'
import type { Model } from '../../../shared/authz/model.ts'
import { parseTupleReference } from '../../../shared/authz/reference.ts'
import { invalidTriple } from '../../../shared/authz/validate-tuple.ts'
import type { Authorizer, CheckQuery } from '../../ports/authorizer.ts'
import { createDecisions, type DecisionsDeps, type Question } from './decisions.ts'
import { createStoredObjectDomains } from './object-domain.ts'

/** Decides with SpiceDB, at least as fresh as the last write that the change feed delivered (decisions: SpiceDB). */
export function createSpicedbAuthorizer(deps: DecisionsDeps): Authorizer {
  const { model, datastore } = deps
  const decisions = createDecisions(deps)
  const questionOf = createQuestions(model)
  const paths = pathsOf(model)
  return {
    kind: 'spicedb',
    check: async (query) => decisions.decide(questionOf(query), query),
    domainOf: createStoredObjectDomains(model, datastore),
    pathOf: (resourceType, relation) => paths.get(`${resourceType}#${relation}`) ?? [],
    hasRelation: (resourceType, relation) => model.type(resourceType)?.askable.has(relation) ?? false,
  }
}

/** @throws Problem `invalid_triple`, with the same details as the embedded engine. */
export function createQuestions(model: Model) {
  // The validity of a question does not depend on tuples.
  const index = new TupleIndex(model)
  return (query: Pick<CheckQuery, 'subject' | 'relation' | 'resource'>): Question => {
    const question = resolveQuestion(model, index, query)
    if ('reason' in question) throw invalidTriple(question)
    const resource = parseTupleReference(query.resource)
    const subject = parseTupleReference(query.subject)
    if (resource === undefined) throw invalidTriple({ part: 'resource', reason: 'malformed' })
    if (subject === undefined) throw invalidTriple({ part: 'subject', reason: 'malformed' })
    return { asked: question.asked, resource, subject }
  }
}

/** The path that a denial shows, for each relation and permission. Static, so computed once. */
function pathsOf({ types }: Model): ReadonlyMap<string, readonly string[]> {
  const askables = types.flatMap(({ askable }) => [...askable.values()])
  return new Map(askables.map((asked) => [`${asked.type.name}#${asked.name}`, grantingNames(asked)]))
}
