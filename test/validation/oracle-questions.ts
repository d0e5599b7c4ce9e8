import { columnsOf, loadRelationships } from '../../src/shared/authz/validation/load-relationships.ts'
import { parseAssertion } from '../../src/shared/authz/validation/parse-assertion.ts'
import {
  parseExpectedSubject,
  parseObjectRelation,
  type ExpectedSubject,
} from '../../src/shared/authz/validation/parse-expected-subject.ts'
import type { AssertionKind, ValidationFile } from '../../src/shared/authz/validation/validation-file.ts'
import type { Model } from '../../src/shared/authz/model.ts'
import type {
  OracleCheck,
  OracleFoundSubject,
  OracleLookup,
  OracleQuestion,
  OracleSubjects,
} from '../support/authz/spicedb-oracle.ts'

/** What SpiceDB answers to a check, by what a file asserts. */
export const ANSWERS: { readonly [kind in AssertionKind]: string } = {
  assertTrue: 'yes',
  assertCaveated: 'unknown',
  assertFalse: 'no',
}

/** The subjects of one type that a file lists, with the lookup that finds them. */
interface ListedSubjects {
  readonly query: OracleSubjects
  readonly listed: readonly ExpectedSubject[]
}

/** A validation file as questions to SpiceDB. */
export interface FileQuestions {
  readonly question: OracleQuestion
  /** How many of the checks are assertions; the sets that are listed as subjects follow. */
  readonly assertions: number
  readonly listed: readonly ListedSubjects[]
}

export function questionsOf(model: Model, schema: string, file: ValidationFile): FileQuestions {
  const { relationships } = loadRelationships(model, file.relationships)
  const assertions = file.assertions.map(({ text }) => checkOf(text.text.trim()))
  const expectations = file.expectations.map(({ relation, subjects }) => ({
    asked: parseObjectRelation(relation.text),
    subjects: subjects.map(({ text }) => parseExpectedSubject(text)),
  }))
  const sets = expectations.flatMap(({ asked, subjects }) =>
    subjects.filter(({ name }) => name.includes('#')).map(({ name }) => checkOf(`${textOf(asked)}@${name}`)),
  )
  const listed = expectations.flatMap(({ asked, subjects }) =>
    model.types.map(({ name: type }) => ({
      query: { resource: [asked.type, asked.id] as const, permission: asked.relation, subjects: [type] as const },
      listed: subjects.filter(({ name }) => name.startsWith(`${type}:`) && !name.includes('#')),
    })),
  )
  const tuples = relationships.map(columnsOf)
  const question = { schema, tuples, checks: [...assertions, ...sets], subjects: listed.map(({ query }) => query) }
  return { question, assertions: assertions.length, listed }
}

const textOf = ({ type, id, relation }: { type: string; id: string; relation: string }): string =>
  `${type}:${id}#${relation}`

function checkOf(text: string): OracleCheck {
  const { relationship, context } = parseAssertion(text)
  const { resource, subject } = relationship
  return {
    resource: [resource.type, resource.id],
    permission: resource.relation,
    subject: [subject.type, subject.id, subject.relation],
    context,
  }
}

/** The subjects of a lookup as a file would list them, without the relations that brought them in. */
export function foundBy(lookup: OracleLookup<OracleFoundSubject> | undefined, type: string): readonly string[] {
  if (lookup === undefined || 'error' in lookup) throw new Error(lookup?.error ?? 'no lookup')
  return lookup.found
    .map(({ id, answer, excluded }) =>
      lineOf(
        `${type}:${id}`,
        answer === 'unknown',
        excluded.map((one) => markedName(type, one)),
      ),
    )
    .toSorted()
}

const markedName = (type: string, { id, answer }: { id: string; answer: string }): string =>
  answer === 'unknown' ? `${type}:${id}[...]` : `${type}:${id}`

const lineOf = (name: string, isConditional: boolean, without: readonly string[]): string =>
  `${name}${isConditional ? '[...]' : ''}${without.length === 0 ? '' : ` - {${without.toSorted().join(', ')}}`}`

/**
 * What SpiceDB's lookup should find. A file marks what depends on a caveat without asking what it comes to; the lookup
 * asks it, with the values of the tuples alone: such a subject is found, found open or not found.
 */
export function expectedOf(listed: readonly ExpectedSubject[], found: readonly string[]): readonly string[] {
  return listed
    .flatMap(({ name, isConditional, exceptions }) => {
      const without = exceptions.map((one) => (one.isConditional ? `${one.name}[...]` : one.name))
      const ways = [lineOf(name, false, without), lineOf(name, true, without)]
      if (!isConditional) return ways.slice(0, 1)
      return ways.filter((way) => found.includes(way))
    })
    .toSorted()
}
