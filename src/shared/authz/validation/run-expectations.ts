import type { Model } from '../model.ts'
import { createExpander, ExpansionError, type Subjects } from './expand-subjects.ts'
import type { Failure } from './failure.ts'
import { parseExpectedSubject, parseObjectRelation, type ExpectedSubject } from './parse-expected-subject.ts'
import type { Relationship } from './parse-relationship.ts'
import type { ObjectRelation } from './references.ts'
import { requireNames } from './run-assertions.ts'
import type { SourceText } from './source-map.ts'
import type { Found, FoundWildcard } from './subject-set.ts'
import { TextFault } from './text-fault.ts'
import type { WrittenExpectation } from './validation-file.ts'

type Fault = Omit<Failure, 'file'>

/** A found subject in the notation of the section. */
interface Computed {
  readonly name: string
  readonly found: Found | FoundWildcard
}

/** Maximum of reported failures for one relation; further ones are counted. */
const FAILURES_MAX = 20

/**
 * Compares the `validation` section with the found subjects. Every subject must be listed, with the relations through
 * which it is found, a mark if it is conditional, and the exceptions of a wildcard.
 */
export function runExpectations(
  model: Model,
  relationships: readonly Relationship[],
  expectations: readonly WrittenExpectation[],
): readonly Fault[] {
  const expand = createExpander(model, relationships)
  return expectations.flatMap((expectation) => {
    try {
      const asked = parsedRelation(model, expectation.relation)
      return compare(expectation, computed(expand(asked)))
    } catch (error) {
      if (error instanceof TextFault) return [faultAt(expectation.relation, error)]
      if (!(error instanceof ExpansionError)) throw error
      const message = `expected subjects that can be listed: ${error.message}`
      return [{ ...expectation.relation.at, kind: 'validation', text: expectation.relation.text, message, because: [] }]
    }
  })
}

function faultAt(text: SourceText, error: TextFault): Fault {
  const at = text.locate({ line: 1, column: error.offset + 1 })
  return { ...at, kind: 'validation', text: text.text, message: error.message, because: [] }
}

function parsedRelation(model: Model, { text }: SourceText): ObjectRelation {
  const asked = parseObjectRelation(text)
  requireNames(model, asked, asked.type.length + asked.id.length + 2)
  return asked
}

function computed(subjects: Subjects): ReadonlyMap<string, Computed> {
  const all = [...subjects].flatMap(([kind, { concrete, wildcard }]) => {
    const [type = '', relation] = kind.split('#')
    const nameFor = (id: string): string => (relation === undefined ? `${type}:${id}` : `${type}:${id}#${relation}`)
    const each = [...concrete].map(([id, found]): Computed => ({ name: nameFor(id), found }))
    return wildcard === undefined ? each : [...each, { name: nameFor('*'), found: named(wildcard, nameFor) }]
  })
  return new Map(all.map((one) => [one.name, one]))
}

const named = (wildcard: FoundWildcard, nameFor: (id: string) => string): FoundWildcard => ({
  ...wildcard,
  exceptions: new Map([...wildcard.exceptions].map(([id, found]) => [nameFor(id), found])),
})

function compare({ relation, subjects }: WrittenExpectation, found: ReadonlyMap<string, Computed>): Fault[] {
  const read = subjects.map((text) => ({ text, expected: readSubject(text) }))
  const faults = read.flatMap(({ text, expected }) => {
    if ('message' in expected) return [expected]
    return differences(expected, found).map((message) => faultOf(text, message))
  })
  // An unreadable line may be the missing one of these subjects.
  if (read.some(({ expected }) => 'message' in expected)) return faults
  const listed = new Set(read.flatMap(({ expected }) => ('name' in expected ? [expected.name] : [])))
  const others = [...found.values()].filter(({ name }) => !listed.has(name))
  const shown = others.slice(0, FAILURES_MAX).map((other) => `expected no further subject, found ${lineOf(other)}`)
  const more = others.length - shown.length
  if (more > 0) shown.push(`expected no further subject, found ${more} more`)
  return [...faults, ...shown.map((message) => faultOf(relation, message))]
}

const faultOf = (text: SourceText, message: string): Fault => {
  return { ...text.at, kind: 'validation', text: text.text.trim(), message, because: [] }
}

function readSubject(text: SourceText): ExpectedSubject | Fault {
  try {
    return parseExpectedSubject(text.text)
  } catch (error) {
    if (error instanceof TextFault) return faultAt(text, error)
    throw error
  }
}

function differences(expected: ExpectedSubject, all: ReadonlyMap<string, Computed>): string[] {
  const found = all.get(expected.name)
  if (found === undefined) return [`expected ${expected.name} among the subjects, found ${someOf([...all.keys()])}`]
  const { name, through, exceptions } = expected
  const messages: string[] = []
  const ways = [...found.found.through].toSorted()
  if (!isSame(through, ways)) messages.push(`expected ${name} through ${listOf(through)}, found ${listOf(ways)}`)
  const expectedMarks = exceptions.map(marked).toSorted()
  const foundMarks = exceptionsOf(found.found)
  if (!isSame(expectedMarks, foundMarks)) {
    messages.push(`expected ${name} without ${braced(expectedMarks)}, found without ${braced(foundMarks)}`)
  }
  if (expected.isConditional !== found.found.isConditional) {
    messages.push(`expected ${marked(expected)}, found ${marked({ name, isConditional: !expected.isConditional })}`)
  }
  return messages
}

const marked = ({ name, isConditional }: { name: string; isConditional: boolean }): string =>
  isConditional ? `${name}[...]` : name

function exceptionsOf(found: Found | FoundWildcard): string[] {
  if (!('exceptions' in found)) return []
  return [...found.exceptions].map(([name, { isConditional }]) => marked({ name, isConditional })).toSorted()
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((each, index) => each === b[index])

const listOf = (ways: readonly string[]): string =>
  ways.length === 0 ? 'nothing' : ways.map((way) => `<${way}>`).join('/')
const braced = (names: readonly string[]): string => (names.length === 0 ? 'exceptions' : `{${names.join(', ')}}`)

const SHOWN_MAX = 5

function someOf(names: readonly string[]): string {
  if (names.length === 0) return 'none'
  const more = names.length - SHOWN_MAX
  return `${names.toSorted().slice(0, SHOWN_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** The line that the section should have. */
function lineOf({ name, found }: Computed): string {
  const exceptions = exceptionsOf(found)
  const without = exceptions.length === 0 ? '' : ` - {${exceptions.join(', ')}}`
  return `[${marked({ name, isConditional: found.isConditional })}${without}] is ${listOf([...found.through].toSorted())}`
}
