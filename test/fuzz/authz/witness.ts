import type { Oracle, OracleCheck } from '../../support/spicedb-oracle.ts'
import { resourcesText, subjectsText, type Found } from './answers.ts'
import { columnsOf, objectOf, partsOf, subjectOf, type FuzzTuple, type Query } from './world.ts'

type Lookup = Extract<Query, { kind: 'resources' | 'subjects' }>

/** Stands for every subject that no tuple names. */
const STRANGER = 'somebody-else'

interface Setting {
  readonly schema: string
  readonly tuples: readonly FuzzTuple[]
  readonly oracle: Oracle
}

/** What a lookup would answer if SpiceDB made it from its own checks of everything that might be found. */
export async function lookupByChecks({ schema, tuples, oracle }: Setting, query: Lookup): Promise<string> {
  const ids = candidates(tuples, query)
  const checks = ids.map((id) => checkOf(query, id))
  const answers = await oracle.ask({ schema, tuples: tuples.map(columnsOf), checks })
  const failed = answers.find((answer) => answer.startsWith('error: '))
  if (failed !== undefined) return failed
  const found = ids.map((id, at) => ({ id, answer: answers[at] ?? '' }))
  return query.kind === 'resources' ? resourcesText(having(found)) : subjectsTextOf(found)
}

function candidates(tuples: readonly FuzzTuple[], query: Lookup): string[] {
  const type = query.kind === 'resources' ? query.type : query.subjects
  const asked = query.kind === 'resources' ? query.subject : query.resource
  const references = [...tuples.flatMap(({ resource, subject }) => [resource, subject]), asked]
  const ids = references.filter((each) => partsOf(each)[0] === type).map((each) => partsOf(each)[1])
  const everyone = query.kind === 'subjects' ? [STRANGER] : []
  return [...new Set([...ids, ...everyone])].filter((id) => id !== '*')
}

function checkOf(query: Lookup, id: string): OracleCheck {
  const { permission, context = {} } = query
  if (query.kind === 'resources') {
    return { resource: [query.type, id], permission, subject: subjectOf(query.subject), context }
  }
  return { resource: objectOf(query.resource), permission, subject: [query.subjects, id], context }
}

interface Checked {
  readonly id: string
  readonly answer: string
}

function having(checked: readonly Checked[]): Found[] {
  return checked
    .filter(({ answer }) => answer !== 'no')
    .map(({ id, answer }) => ({ id, isConditional: answer === 'unknown' }))
}

function subjectsTextOf(checked: readonly Checked[]): string {
  const named = having(checked.filter(({ id }) => id !== STRANGER)).map((each) => ({ ...each, excluded: [] }))
  const everyone = having(checked.filter(({ id }) => id === STRANGER)).map(({ isConditional }) => {
    const excluded = checked
      .filter(({ answer }) => answer !== 'yes')
      .map(({ id, answer }) => {
        return { id, isConditional: answer === 'unknown' }
      })
    return { id: '*', isConditional, excluded }
  })
  return subjectsText([...named, ...everyone])
}
