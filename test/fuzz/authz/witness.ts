import type { Oracle, OracleCheck } from '../../support/authz/spicedb-oracle.ts'
import { resourcesText, subjectsText, type Found } from './answers.ts'
import { CAVEAT_FAILS, TOO_DEEP } from './exclusions.ts'
import { columnsOf, objectOf, partsOf, subjectOf, type FuzzTuple, type Query } from './world.ts'

type Lookup = Extract<Query, { kind: 'resources' | 'subjects' }>

/** Stands for every subject that no tuple names. */
const STRANGER = 'somebody-else'

interface Setting {
  readonly schema: string
  readonly tuples: readonly FuzzTuple[]
  readonly oracle: Oracle
}

/**
 * Whether a lookup has this answer when SpiceDB makes it from its own checks of everything that might be found. What its
 * checks fail on, over a caveat or in a ring, is not compared.
 */
export async function isWitnessed({ schema, tuples, oracle }: Setting, query: Lookup, ours: string): Promise<boolean> {
  const ids = candidates(tuples, query)
  const checks = ids.map((id) => checkOf(query, id))
  const answers = await oracle.ask({ schema, tuples: tuples.map(columnsOf), checks })
  const checked = ids.map((id, at) => ({ id, answer: answers[at] ?? '' }))
  const failed = checked.filter(({ answer }) => CAVEAT_FAILS.test(answer) || TOO_DEEP.test(answer)).map(({ id }) => id)
  const rest = checked.filter(({ id }) => !failed.includes(id))
  if (failed.includes(STRANGER) || rest.some(({ answer }) => answer.startsWith('error: '))) return false
  return textOf(query, rest) === without(ours, failed)
}

const textOf = ({ kind }: Lookup, checked: readonly Checked[]): string =>
  kind === 'resources' ? resourcesText(having(checked)) : subjectsTextOf(checked)

/** An answer without some ids. */
function without(answer: string, ids: readonly string[]): string {
  const parts = answer.split(' ')
  return parts.filter((part) => !ids.includes(part.replace(/^-(?=.)|\?$/g, ''))).join(' ')
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
