import type { OracleAnswers, OracleFound, OracleFoundSubject, OracleLookup } from '../../support/spicedb-oracle.ts'

/** One result of a lookup; `isConditional` where it depends on values that the context lacks. */
export interface Found {
  readonly id: string
  readonly isConditional: boolean
}

export interface FoundSubject extends Found {
  /** Subjects that a wildcard does not stand for. */
  readonly excluded: readonly Found[]
}

/** `a`, or `a?` where conditional, in the order of the ids. */
export function resourcesText(found: readonly Found[]): string {
  return found.map(mark).toSorted().join(' ')
}

/**
 * Who is among the found, whatever they are listed as: `*` or `*?` for everyone, else nothing; then each id whose own part
 * differs from everyone's, as `a`, `a?`, or `-a` for one who is left out.
 */
export function subjectsText(found: readonly FoundSubject[]): string {
  const own = new Map<string, Part>()
  const through = new Map<string, Part>()
  const wildcard = found.find(({ id }) => id === '*')
  const everyone = wildcard === undefined ? 'no' : partOf(wildcard)
  for (const each of found) if (each !== wildcard) own.set(each.id, partOf(each))
  for (const each of wildcard?.excluded ?? []) through.set(each.id, each.isConditional ? 'conditional' : 'no')
  const ids = [...new Set([...own.keys(), ...through.keys()])].toSorted()
  const parts = ids.map((id) => ({ id, part: higher(own.get(id) ?? 'no', through.get(id) ?? everyone) }))
  const texts = parts.filter(({ part }) => part !== everyone).map(({ id, part }) => PARTS[part](id))
  return [...(everyone === 'no' ? [] : [PARTS[everyone]('*')]), ...texts].join(' ')
}

type Part = 'yes' | 'conditional' | 'no'

const PARTS: { readonly [part in Part]: (id: string) => string } = {
  yes: (id) => id,
  conditional: (id) => `${id}?`,
  no: (id) => `-${id}`,
}

const partOf = ({ isConditional }: Found): Part => (isConditional ? 'conditional' : 'yes')

function higher(a: Part, b: Part): Part {
  if (a === 'yes' || b === 'yes') return 'yes'
  return a === 'conditional' || b === 'conditional' ? 'conditional' : 'no'
}

const mark = ({ id, isConditional }: Found): string => (isConditional ? `${id}?` : id)

/** What SpiceDB answered, in the order of the kinds: checks, lookups of resources, lookups of subjects. */
export function oracleTexts({ answers, resources, subjects }: OracleAnswers) {
  return {
    check: answers.map((answer) => (answer === 'unknown' ? 'conditional' : refusedOr(answer))),
    resources: resources.map((lookup) => textOf(lookup, (found) => resourcesText(found.map(foundOf)))),
    subjects: subjects.map((lookup) => textOf(lookup, (found) => subjectsText(found.map(foundSubjectOf)))),
  }
}

function textOf<T>(lookup: OracleLookup<T>, write: (found: readonly T[]) => string): string {
  return 'error' in lookup ? refusedOr(`error: ${lookup.error}`) : write(lookup.found)
}

/** An error by which SpiceDB says that the question names something unknown is `refused`. */
function refusedOr(answer: string): string {
  return /^error: .*\bnot found/.test(answer) ? 'refused' : answer
}

const foundOf = ({ id, answer }: OracleFound): Found => ({ id, isConditional: answer === 'unknown' })

const foundSubjectOf = (subject: OracleFoundSubject): FoundSubject => ({
  ...foundOf(subject),
  excluded: subject.excluded.map(foundOf),
})
