import type {
  OracleAnswers,
  OracleFound,
  OracleFoundSubject,
  OracleLookup,
} from '../../support/authz/spicedb-oracle.ts'

/** One result of a lookup; `isConditional` where it depends on values that the context lacks. */
export interface Found {
  readonly id: string
  readonly isConditional: boolean
}

export interface FoundSubject extends Found {
  /** Subjects that a wildcard does not stand for. */
  readonly excluded: readonly Found[]
}

/** `a`, or `a?` where conditional, in the order of the ids. One that is found twice counts as its better half says. */
export function resourcesText(found: readonly Found[]): string {
  const parts = highest(found)
  return [...parts.keys()]
    .toSorted()
    .map((id) => PARTS[parts.get(id) ?? 'no'](id))
    .join(' ')
}

/**
 * Who is among the found, whatever they are listed as: `*` or `*?` for everyone, else nothing; then each id whose own part
 * differs from everyone's, as `a`, `a?`, or `-a` for one who is left out.
 */
export function subjectsText(found: readonly FoundSubject[]): string {
  const wildcards = found.filter(({ id }) => id === '*')
  const named = highest(found.filter(({ id }) => id !== '*'))
  const everyone = wildcards.map(partOf).reduce(higher, 'no')
  const excluded = wildcards.flatMap((wildcard) => wildcard.excluded.map(({ id }) => id))
  const ids = [...new Set([...named.keys(), ...excluded])].toSorted()
  const parts = ids.map((id) => {
    return {
      id,
      part: wildcards.map((wildcard) => throughWildcard(wildcard, id)).reduce(higher, named.get(id) ?? 'no'),
    }
  })
  const texts = parts.filter(({ part }) => part !== everyone).map(({ id, part }) => PARTS[part](id))
  return [...(everyone === 'no' ? [] : [PARTS[everyone]('*')]), ...texts].join(' ')
}

function highest(found: readonly Found[]): Map<string, Part> {
  const parts = new Map<string, Part>()
  for (const each of found) parts.set(each.id, higher(parts.get(each.id) ?? 'no', partOf(each)))
  return parts
}

function throughWildcard(wildcard: FoundSubject, id: string): Part {
  const exclusion = wildcard.excluded.find((each) => each.id === id)
  if (exclusion === undefined) return partOf(wildcard)
  return exclusion.isConditional ? 'conditional' : 'no'
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
